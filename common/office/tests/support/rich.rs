//! One presentation with everything the parser reads; the golden document, and the seed of the coverage test.

use super::{NAMESPACES, PIXEL, Pptx, Slide, frame, group, p, picture, placeholder, pp, shape, table, text_box, title};

fn chart() -> String {
    let points = |name: &str, kind: &str, values: &[&str]| {
        let points: Vec<String> =
            values.iter().enumerate().map(|(n, value)| format!(r#"<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>"#)).collect();
        format!("<c:{name}><c:{kind}Ref><c:{kind}Cache>{}</c:{kind}Cache></c:{kind}Ref></c:{name}>", points.concat())
    };
    let series = |name: &str, values: &[&str]| {
        format!(
            "<c:ser>{}{}{}</c:ser>",
            points("tx", "str", &[name]),
            points("cat", "str", &["Spring", "Autumn"]),
            points("val", "num", values)
        )
    };
    format!(
        "<c:chartSpace {NAMESPACES}><c:chart><c:title><c:tx><c:rich>{}</c:rich></c:tx></c:title><c:plotArea><c:barChart>{}{}</c:barChart></c:plotArea></c:chart></c:chartSpace>",
        p("Harvest by season"),
        series("Apples", &["12", "40"]),
        series("Pears", &["7", "19.5"])
    )
}

fn diagram() -> String {
    let point =
        |id: &str, kind: &str, text: &str| format!(r#"<dgm:pt modelId="{id}"{kind}><dgm:t><a:bodyPr/>{}</dgm:t></dgm:pt>"#, p(text));
    let connection =
        |from: &str, to: &str, order: usize| format!(r#"<dgm:cxn modelId="c{to}" srcId="{from}" destId="{to}" srcOrd="{order}"/>"#);
    format!(
        r#"<dgm:dataModel {NAMESPACES}><dgm:ptLst><dgm:pt modelId="0" type="doc"/>{}{}{}</dgm:ptLst><dgm:cxnLst>{}{}{}</dgm:cxnLst></dgm:dataModel>"#,
        point("2", "", "Press"),
        point("1", "", "Pick"),
        point("3", "", "Sort by hand"),
        connection("0", "1", 0),
        connection("0", "2", 1),
        connection("1", "3", 0)
    )
}

/// The presentation.
pub fn rich() -> Pptx {
    let number = placeholder(r#"type="sldNum" idx="11""#, None, r#"<a:p><a:fld type="slidenum"><a:t>33</a:t></a:fld></a:p>"#);
    let footer = placeholder(r#"type="ftr" idx="10""#, None, &p("Orchard board, spring meeting"));
    let opening = Slide::new(
        placeholder(
            r#"type="ctrTitle""#,
            Some((60, 150, 600, 80)),
            "<a:p><a:r><a:t>Orchard</a:t></a:r><a:br/><a:r><a:t>plan 2031</a:t></a:r></a:p>",
        ) + &placeholder(r#"type="subTitle" idx="7""#, Some((60, 250, 600, 40)), &p("Draft for the board"))
            + &footer,
    )
    .notes("notesSlide1", &(p("Greet the mayor first.") + &p("Mention the frost &amp; the loan.")));
    // Drawn from the right to the left; read from the left.
    let columns = Slide::new(
        title("What we grow")
            + &placeholder(
                r#"idx="2""#,
                None,
                &(p("Pears on the slope") + &pp(r#"<a:pPr lvl="1"/>"#, "Conference") + &pp(r#"<a:pPr lvl="1"/>"#, "Comice")),
            )
            + &placeholder(
                r#"idx="1""#,
                None,
                &(pp(r#"<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>"#, "Apples by the river")
                    + &pp(r#"<a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>"#, "Quinces by the wall")),
            )
            + &footer
            + &number,
    )
    .related(
        "rIdC",
        "comments",
        "comments/comment1.xml",
        format!(r#"<p:cmLst {NAMESPACES}><p:cm authorId="4" idx="1"><p:text>Are the quinces worth it?</p:text></p:cm></p:cmLst>"#),
    );
    let figures = Slide::new(
        title("Figures")
            + &frame(
                (20, 100, 330, 120),
                &table(
                    r#"firstRow="1""#,
                    &[
                        &[("gridSpan=\"2\"", "Yield &lt;tons&gt;"), ("hMerge=\"1\"", ""), ("", "Share")],
                        &[("rowSpan=\"2\"", "River"), ("", "Apples"), ("", "61 %")],
                        &[("vMerge=\"1\"", ""), ("", "Quinces"), ("", "4 %")],
                    ],
                ),
            )
            + &frame((370, 100, 330, 120), r#"<c:chart r:id="rIdChart"/>"#)
            + &frame((20, 300, 330, 120), r#"<dgm:relIds r:dm="rIdDm"/>"#)
            + &picture("rIdPic", "A map of the orchard", (370, 300, 200, 120)),
    )
    .related("rIdChart", "chart", "charts/chart1.xml", chart())
    .related("rIdDm", "diagramData", "diagrams/data1.xml", diagram())
    .related("rIdPic", "image", "media/image1.png", PIXEL);
    let formula = concat!(
        "<a:p><mc:AlternateContent><mc:Choice Requires=\"a14\"><a14:m><m:oMath><m:r><m:t>a</m:t></m:r><m:f><m:num><m:r><m:t>b</m:t></m:r></m:num>",
        "<m:den><m:r><m:t>c</m:t></m:r></m:den></m:f></m:oMath></a14:m></mc:Choice><mc:Fallback><a:r><a:t> </a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
    );
    let untitled = Slide::new(
        group(
            (20, 300, 400, 100),
            &(text_box((30, 310, 180, 30), &p("Inside the group, left"))
                + &group((230, 310, 180, 80), &text_box((240, 320, 160, 30), &p("A group in the group")))),
        ) + &text_box((20, 200, 600, 60), formula)
            + &text_box((20, 120, 600, 60), &p("The second text of a slide without a title"))
            + &text_box((20, 40, 600, 60), &p("The first text stands in"))
            + &shape("<p:nvPr/>", r#" hidden="1""#, Some((20, 430, 200, 20)), &p("A shape that is switched off")),
    );
    let hidden = Slide::new(title("Prices, not for the public") + &text_box((20, 100, 300, 40), &p("Forty a crate"))).hidden();
    let full = Slide::new("").background(r#"<a:blipFill><a:blip r:embed="rIdPic"/></a:blipFill>"#).related(
        "rIdPic",
        "image",
        "media/image1.png",
        PIXEL,
    );
    Pptx::new([opening, columns, figures, untitled, hidden, full]).related(
        "rIdAuthors",
        "commentAuthors",
        "commentAuthors.xml",
        format!(r#"<p:cmAuthorLst {NAMESPACES}><p:cmAuthor id="4" name="Ines Okoro"/></p:cmAuthorLst>"#),
    )
}
