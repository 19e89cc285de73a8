//! The parser of every family: the one place of the program that names them.

use std::sync::Arc;

use quarry_document::Parser;
use quarry_model::Family;
use quarry_ports::Ocr;

/// The same with whoever reads text in pictures: what it finds depends on the machine and on the model configured.
pub fn parser_with(family: Family, ocr: Option<Arc<dyn Ocr>>) -> Box<dyn Parser> {
    match family {
        Family::Pdf => Box::new(quarry_parse_pdf::PdfParser::with_ocr(ocr)),
        other => parser(other),
    }
}

/// The parser that reads a family of formats, the same on every machine.
pub fn parser(family: Family) -> Box<dyn Parser> {
    match family {
        Family::Text => Box::new(quarry_parse_text::TextParser),
        Family::Html => Box::new(quarry_parse_html::HtmlParser),
        Family::Docx => Box::new(quarry_parse_docx::DocxParser),
        Family::Pdf => Box::new(quarry_parse_pdf::PdfParser::default()),
        Family::Pptx => Box::new(quarry_parse_pptx::PptxParser),
        Family::Xlsx => Box::new(quarry_parse_xlsx::XlsxParser),
        Family::Epub => Box::new(quarry_parse_epub::EpubParser),
        Family::Odt => Box::new(quarry_parse_odt::OdtParser),
        Family::Rtf => Box::new(quarry_parse_rtf::RtfParser),
        Family::Eml => Box::new(quarry_parse_eml::EmlParser),
        Family::Json => Box::new(quarry_parse_json::JsonParser),
        Family::Image => Box::new(quarry_parse_image::ImageParser),
        Family::Legacy => Box::new(quarry_parse_legacy::LegacyParser::detect()),
        Family::Fragment => Box::new(quarry_parse_fragment::FragmentParser),
    }
}
