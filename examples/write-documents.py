#!/usr/bin/env python3
"""Writes the Word documents of examples/documents. The output depends on nothing but this file.

    python3 examples/write-documents.py
"""
import struct
import zipfile
import zlib
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent / "documents"
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
DRAWING = ('xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
           'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
           'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"')


def run(text, bold=False):
    return f'<w:r>{"<w:rPr><w:b/></w:rPr>" if bold else ""}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def p(text, style=None, extra=""):
    props = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{props}{run(text)}{extra}</w:p>"


def item(text, number):
    return f'<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr></w:pPr>{run(text)}</w:p>'


def cell(text, span=1, merge=None):
    props = (f'<w:gridSpan w:val="{span}"/>' if span > 1 else "") + {
        None: "", "start": '<w:vMerge w:val="restart"/>', "go": "<w:vMerge/>"}[merge]
    return f'<w:tc><w:tcPr>{props}</w:tcPr><w:p>{run(text) if text else ""}</w:p></w:tc>'


def table(rows, columns, header_rows=1):
    grid = "".join('<w:gridCol w:w="2000"/>' for _ in range(columns))
    body = "".join(f'<w:tr>{"<w:trPr><w:tblHeader/></w:trPr>" if i < header_rows else ""}{"".join(r)}</w:tr>' for i, r in enumerate(rows))
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl>"


def picture(relation, name, alt):
    return (f'<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1905000" cy="952500"/><wp:docPr id="1" name="{escape(name)}" descr="{escape(alt)}"/>'
            '<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>'
            f'<pic:cNvPr id="1" name="{escape(name)}"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="{relation}"/></pic:blipFill>'
            '<pic:spPr/></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>')


def png(width, height, paint):
    raw = b"".join(b"\0" + b"".join(bytes(paint(x, y)) for x in range(width)) for y in range(height))
    part = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + part(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + part(b"IDAT", zlib.compress(raw, 9)) + part(b"IEND", b""))


def styles():
    heads = "".join(f'<w:style w:type="paragraph" w:styleId="Heading{n}"><w:name w:val="heading {n}"/><w:basedOn w:val="Normal"/>'
                    f'<w:pPr><w:outlineLvl w:val="{n - 1}"/></w:pPr></w:style>' for n in (1, 2, 3))
    return (f'<?xml version="1.0" encoding="UTF-8"?><w:styles {W}><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
            f'{heads}<w:style w:type="paragraph" w:styleId="Section"><w:name w:val="Section"/><w:basedOn w:val="Heading2"/></w:style></w:styles>')


def numbering():
    level = lambda fmt, text: f'<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="{fmt}"/><w:lvlText w:val="{text}"/></w:lvl>'
    return (f'<?xml version="1.0" encoding="UTF-8"?><w:numbering {W}><w:abstractNum w:abstractNumId="0">{level("decimal", "%1.")}</w:abstractNum>'
            f'<w:abstractNum w:abstractNumId="1">{level("bullet", "•")}</w:abstractNum>'
            '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num></w:numbering>')


def write(name, title, body, image=None, footnotes=None):
    parts = {
        "[Content_Types].xml": '<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="png" ContentType="image/png"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": '<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
        '<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>',
        "docProps/core.xml": '<?xml version="1.0" encoding="UTF-8"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></cp:coreProperties>',
        "word/document.xml": f'<?xml version="1.0" encoding="UTF-8"?><w:document {W} {R} {DRAWING}><w:body>{"".join(body)}<w:sectPr/></w:body></w:document>',
        "word/styles.xml": styles(),
        "word/numbering.xml": numbering(),
    }
    relations = ('<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
                 '<Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/>')
    if image:
        parts["word/media/image1.png"] = image
        relations += '<Relationship Id="rId3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" Target="media/image1.png"/>'
    if footnotes:
        notes = "".join(f'<w:footnote w:id="{i}">{p(t)}</w:footnote>' for i, t in footnotes.items())
        parts["word/footnotes.xml"] = f'<?xml version="1.0" encoding="UTF-8"?><w:footnotes {W}>{notes}</w:footnotes>'
        relations += '<Relationship Id="rId4" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" Target="footnotes.xml"/>'
    parts["word/_rels/document.xml.rels"] = ('<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                                             f'{relations}</Relationships>')
    with zipfile.ZipFile(HERE / name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for part, data in parts.items():
            info = zipfile.ZipInfo(part, (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(info, data)


def curve(x, y):
    """A pump curve: head falling with flow, on a white ground with a grey frame."""
    if x in (0, 239) or y in (0, 119):
        return 150, 150, 150
    return (20, 70, 160) if abs((20 + x * x / 700) - y) < 1.6 else (255, 255, 255)


def main():
    note = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    write("pump-station-manual.docx", "Harbour pumping station: operating manual", [
        p("Operating manual", "Heading1"),
        p("The Harbour pumping station lifts raw water from the intake into the treatment works. It has three pumps, of which two run and one stands by."),
        p("Modes of operation", "Section"),
        p("Automatic mode", "Heading3"),
        p("In automatic mode the controller starts and stops the pumps by the level of the sump: the first pump starts at 1.60 m, the second at 2.10 m, and both stop at 0.90 m."),
        p("Manual mode", "Heading3"),
        p("Manual mode bypasses the level control but none of the interlocks. Only the shift leader may select it, and only while a second person stands at the emergency stop.", extra=note),
        p("Limits of operation", "Section"),
        p("The figures below hold for clear water of up to 25 °C."),
        table([[cell("Pump", merge="start"), cell("Flow (m³/h)", span=2), cell("Power (kW)", merge="start")],
               [cell("", merge="go"), cell("minimum"), cell("maximum"), cell("", merge="go")],
               [cell("P-10"), cell("40"), cell("95"), cell("22")],
               [cell("P-11"), cell("40"), cell("110"), cell("30")],
               [cell("P-12"), cell("55"), cell("140"), cell("37")]], 4, header_rows=2),
        p("Characteristic curve", "Section"),
        p("The curve shows the head of P-12 against its flow at 1,480 revolutions a minute."),
        picture("rId3", "curve.png", "Head of pump P-12 falling from 62 m at zero flow to 31 m at 140 cubic metres an hour"),
        p("Stopping", "Section"),
        item("Close the discharge valve to a quarter over at least twenty seconds, so that no water hammer arises.", 1),
        item("Stop the motor.", 1),
        item("Close the discharge valve fully within one minute; the check valve alone is not tight.", 1),
    ], image=png(240, 120, curve), footnotes={2: "The rule follows the accident prevention regulations, section 4."})
    write("inspection-report-2026.docx", "Annual inspection 2026", [
        p("Annual inspection 2026", "Heading1"),
        p("Scope", "Section"),
        p("The inspection covered the pumps, the switchboard, the cranes and the pressure vessel of the Harbour pumping station."),
        p("Findings", "Section"),
        p("Pressure vessel", "Heading3"),
        p("The pressure vessel PV-1 passed its test at 15 bar. The next inspection is due in May 2031. The safety valve opens at 10.2 bar."),
        p("Overhead crane", "Heading3"),
        p("The brake of the overhead crane slips at 80 % of the rated load of 2 tonnes. The crane is out of service until the lining is replaced."),
        p("Switchboard", "Heading3"),
        p("Thermography found a hot terminal in field 3: 71 °C against 38 °C of its neighbours. It was tightened to 6 Nm during the inspection."),
        p("Grades", "Section"),
        table([[cell("Item"), cell("Grade"), cell("Due")],
               [cell("Pumps P-10 to P-12"), cell("A"), cell("2027-05")],
               [cell("Switchboard"), cell("B"), cell("2026-11")],
               [cell("Overhead crane"), cell("D"), cell("at once")],
               [cell("Pressure vessel PV-1"), cell("A"), cell("2031-05")]], 3),
    ])
    write("manual-de-seguridad.docx", "Manual de seguridad", [
        p("Manual de seguridad", "Heading1"),
        p("Espacios confinados", "Section"),
        p("Al pozo de bombas se entra siempre con detector de cuatro gases y con una persona de vigilancia en la boca. Si el oxígeno baja del 19,5 %, se sale de inmediato."),
        p("Trabajos eléctricos", "Section"),
        p("Ningún cuadro se abre sin consignación. Las cinco reglas se aplican en este orden:"),
        item("Desconectar.", 1), item("Prevenir cualquier realimentación.", 1), item("Verificar la ausencia de tensión.", 1),
        item("Poner a tierra y en cortocircuito.", 1), item("Señalizar la zona de trabajo.", 1),
        p("Productos químicos", "Section"),
        p("El hipoclorito sódico se guarda por debajo de 25 °C y nunca junto a ácidos: la mezcla desprende cloro."),
        table([[cell("Producto"), cell("Concentración"), cell("Protección")],
               [cell("Hipoclorito sódico"), cell("12,5 %"), cell("Guantes de nitrilo y pantalla facial")],
               [cell("Cloruro férrico"), cell("40 %"), cell("Guantes de neopreno y gafas")]], 3),
    ])
    write("水泵维护手册.docx", "水泵维护手册", [
        p("水泵维护手册", "Heading1"),
        p("日常维护", "Section"),
        p("每班检查一次轴承的声音、温度和振动。振动超过每秒 2.8 毫米时应通知维修班。"),
        p("定期维护", "Section"),
        p("润滑", "Heading3"),
        p("轴承每运行 4000 小时加注 30 克复合锂基润滑脂，不得与聚脲润滑脂混用。"),
        p("联轴器", "Heading3"),
        p("联轴器的四个螺栓按对角顺序分两次拧紧，力矩为 48 牛米。"),
        table([[cell("项目"), cell("周期"), cell("工具")],
               [cell("更换机械密封"), cell("8000 小时"), cell("专用拉马")],
               [cell("校正同心度"), cell("每年"), cell("百分表")]], 3),
    ])


if __name__ == "__main__":
    main()
