//! How a document is read, decided by evidence alone.

use quarry_model::pdf::PageSize;

use super::features::Facts;

/// The thresholds, in one place.
struct Thresholds {
    /// A page is a scan from this coverage by pictures …
    scan_coverage: f32,
    /// … and below this many visible characters: stamps and page numbers stay below, a sentence does not.
    scan_characters: usize,
    /// A document is scanned when more than this share of its pages is: text pages in between do not make it another.
    scanned_share: f32,
    /// Slides are wider than high by this ratio at least (4:3 is 1.33) …
    slide_ratio: f32,
    /// … and at most: beyond 2.4 (cinema) it is a banner or a plan.
    slide_ratio_most: f32,
    /// Share of the pages that must have the slides' one size.
    one_size: f32,
    /// Usual size of the letters over the width of the page: 0.025 in a presentation made to be shown, 0.012 in a report
    /// printed on its side.
    slide_letters: f32,
    /// Most characters on the usual slide: a page of a report holds 2,000 to 4,000.
    slide_characters: usize,
    /// The largest text of the usual slide over its usual text: titles are set larger.
    slide_title: f32,
    /// Fewest pages of a presentation: one wide page is a poster or a certificate.
    slide_pages: usize,
    /// Longest side of the usual page, in points, from which a page is a sheet: A3 has 1,191, A4 842, tabloid 1,224.
    sheet_side: f32,
    /// Distinct sizes from which a document is a collection of sheets, when one side at least is a sheet's.
    sheet_sizes: usize,
    /// A page is drawn when it has this many drawing operations that are neither text nor straight lines …
    drawn_operations: u32,
    /// … or this coverage by pictures.
    drawn_coverage: f32,
    /// Share of the pages that must be drawn in an atlas.
    drawn_share: f32,
    /// Most characters on the usual sheet of an atlas: labels and title blocks stay below, newspapers do not.
    sheet_characters: usize,
}

const THRESHOLDS: Thresholds = Thresholds {
    scan_coverage: 0.5,
    scan_characters: 50,
    scanned_share: 0.5,
    slide_ratio: 1.2,
    slide_ratio_most: 2.4,
    one_size: 0.9,
    slide_letters: 0.018,
    slide_characters: 700,
    slide_title: 1.15,
    slide_pages: 3,
    sheet_side: 1_000.0,
    sheet_sizes: 4,
    drawn_operations: 150,
    drawn_coverage: 0.4,
    drawn_share: 0.6,
    sheet_characters: 2_500,
};

/// A decision and what it rests on.
pub(crate) struct Routed {
    pub(crate) route: &'static str,
    pub(crate) evidence: Vec<String>,
}

/// Decides. An atlas of scanned plans is an atlas: what matters is that each page is one drawing.
pub(crate) fn route(pages: &[Facts], sizes: &[PageSize]) -> Routed {
    let full: Vec<&Facts> = pages.iter().filter(|page| !page.is_blank()).collect();
    let mut evidence = vec![format!("{} pages, {} of them blank", pages.len(), pages.len().saturating_sub(full.len()))];
    let decided = |route, evidence| Routed { route, evidence };
    if full.is_empty() {
        return decided("generic", evidence);
    }
    for (found, route) in [(atlas(&full, sizes), "atlas"), (slides(&full, sizes), "slides"), (scanned(&full), "scanned")] {
        evidence.push(format!("{route}: {}", found.1));
        if found.0 {
            return decided(route, evidence);
        }
    }
    decided("generic", evidence)
}

fn share(pages: &[&Facts], test: impl Fn(&Facts) -> bool) -> f32 {
    pages.iter().filter(|page| test(page)).count() as f32 / pages.len().max(1) as f32
}

fn median(pages: &[&Facts], of: impl Fn(&Facts) -> f32) -> f32 {
    let mut values: Vec<f32> = pages.iter().map(|page| of(page)).collect();
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn is_scan(page: &Facts) -> bool {
    page.coverage >= THRESHOLDS.scan_coverage && page.text < THRESHOLDS.scan_characters
}

fn scanned(pages: &[&Facts]) -> (bool, String) {
    let scans = share(pages, is_scan);
    (scans > THRESHOLDS.scanned_share, format!("{:.0} % of the pages are pictures with fewer than 50 visible characters", scans * 100.0))
}

fn slides(pages: &[&Facts], sizes: &[PageSize]) -> (bool, String) {
    let t = &THRESHOLDS;
    let ratio = median(pages, |page| page.width / page.height.max(1.0));
    let all: u32 = sizes.iter().map(|size| size.pages).sum();
    let one_size = sizes.first().map_or(0.0, |size| size.pages as f32 / all.max(1) as f32);
    let texts: Vec<&Facts> = pages.iter().copied().filter(|page| page.text > 0).collect();
    let characters = median(pages, |page| page.text as f32);
    let letters = median(&texts, |page| page.usual / page.width.max(1.0));
    let title = median(&texts, |page| page.largest / page.usual.max(0.1));
    let yes = pages.len() >= t.slide_pages
        && (t.slide_ratio..=t.slide_ratio_most).contains(&ratio)
        && one_size >= t.one_size
        && characters <= t.slide_characters as f32
        && letters >= t.slide_letters
        && title >= t.slide_title;
    let said = format!(
        "width over height {ratio:.2}, {:.0} % of one size, {characters:.0} characters, letters {:.1} % of the width, titles {title:.2} times as large",
        one_size * 100.0,
        letters * 100.0
    );
    (yes, said)
}

fn atlas(pages: &[&Facts], sizes: &[PageSize]) -> (bool, String) {
    let t = &THRESHOLDS;
    let side = median(pages, |page| page.width.max(page.height));
    let longest = pages.iter().map(|page| page.width.max(page.height)).fold(0.0, f32::max);
    let large = side >= t.sheet_side || (sizes.len() >= t.sheet_sizes && longest >= t.sheet_side);
    let drawn = share(pages, |page| page.drawings >= t.drawn_operations || page.coverage >= t.drawn_coverage);
    let characters = median(pages, |page| page.text as f32);
    let yes = large && drawn >= t.drawn_share && characters <= t.sheet_characters as f32;
    let said = format!(
        "longest side {side:.0} points, {} sizes, {:.0} % of the pages drawn, {characters:.0} characters",
        sizes.len(),
        drawn * 100.0
    );
    (yes, said)
}

#[cfg(test)]
mod tests {
    use super::super::features::sizes;
    use super::*;

    fn routed(pages: Vec<Facts>) -> &'static str {
        let sizes = sizes(&pages);
        let Routed { route, evidence } = route(&pages, &sizes);
        assert!(!evidence.is_empty(), "a decision says why: {evidence:?}");
        route
    }

    fn report() -> Facts {
        Facts { width: 595.0, height: 842.0, text: 2_400, usual: 10.0, largest: 16.0, ..Facts::default() }
    }

    fn scan() -> Facts {
        Facts { width: 595.0, height: 842.0, coverage: 1.0, pictures: 1, ..Facts::default() }
    }

    fn slide() -> Facts {
        Facts { width: 960.0, height: 540.0, text: 250, usual: 20.0, largest: 36.0, ..Facts::default() }
    }

    fn sheet() -> Facts {
        Facts { width: 2_384.0, height: 1_684.0, text: 300, usual: 8.0, largest: 14.0, drawings: 2_000, ..Facts::default() }
    }

    #[test]
    fn each_shape_is_known() {
        assert_eq!(routed(vec![report(); 12]), "generic");
        assert_eq!(routed(vec![scan(); 5]), "scanned");
        assert_eq!(routed(vec![slide(); 8]), "slides");
        assert_eq!(routed(vec![sheet(); 4]), "atlas");
    }

    #[test]
    fn what_looks_like_another_shape_is_not() {
        let hidden_layer = Facts { hidden: 1_800, ..scan() };
        assert_eq!(routed(vec![hidden_layer; 5]), "scanned", "a hidden layer is no visible text");
        assert_eq!(routed([vec![report(); 6], vec![scan(); 4]].concat()), "generic", "a report with scanned annexes");
        let turned = Facts { width: 842.0, height: 595.0, ..report() };
        assert_eq!(routed(vec![turned; 10]), "generic", "a report on its side");
        let illustrated = Facts { coverage: 0.7, pictures: 1, text: 600, ..report() };
        assert_eq!(routed(vec![illustrated; 10]), "generic", "pictures with running text");
        let newspaper = Facts {
            width: 1_191.0,
            height: 1_684.0,
            text: 9_000,
            coverage: 0.5,
            pictures: 6,
            usual: 9.0,
            largest: 40.0,
            ..Facts::default()
        };
        assert_eq!(routed(vec![newspaper; 8]), "generic", "large pages full of text");
        assert_eq!(routed(vec![slide(); 2]), "generic", "a certificate");
        assert_eq!(routed(vec![Facts { width: 595.0, height: 842.0, ..Facts::default() }; 3]), "generic", "blank pages");
        let scanned_plan = Facts { coverage: 1.0, pictures: 1, text: 0, drawings: 0, ..sheet() };
        assert_eq!(routed(vec![scanned_plan; 3]), "atlas", "scanned plans");
    }
}
