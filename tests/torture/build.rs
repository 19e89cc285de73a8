//! Documents that need more than pages of text.

use std::fmt::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use lopdf::{Document, Object, Stream, dictionary};
use quarry_pdf::testing::{Builder, Leaf, written};

pub(crate) const SENTENCE: &str = "The reserve well delivers fourteen cubic metres an hour.";

/// A page with a heading and a sentence, by number.
pub(crate) fn leaf(number: usize) -> Leaf {
    Leaf::a4().text(72.0, 90.0, 18.0, &format!("Chapter {number}")).text(72.0, 130.0, 11.0, SENTENCE).text(
        72.0,
        150.0,
        11.0,
        &format!("Only page {number} says the word unique{number}."),
    )
}

/// A document of such pages.
pub(crate) fn pages(count: usize) -> Builder {
    (1..=count).fold(Builder::new(), |builder, number| builder.page(leaf(number)))
}

pub(crate) fn deflate(data: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).expect("memory");
    encoder.finish().expect("memory")
}

/// A document from its objects as they are written; object 1 is the catalog.
pub(crate) fn raw(objects: &[&str]) -> Vec<u8> {
    let mut out = "%PDF-1.7\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(out.len());
        writeln!(out, "{} 0 obj\n{object}\nendobj", index + 1).expect("memory");
    }
    let table = out.len();
    write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).expect("memory");
    for place in places {
        writeln!(out, "{place:010} 00000 n ").expect("memory");
    }
    write!(out, "trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).expect("memory");
    out.into_bytes()
}

/// One page that shows codes in a font given as a dictionary's text; `more` are the objects from 6 on.
pub(crate) fn with_font(font: &str, content: &str, more: &[&str]) -> Vec<u8> {
    let stream = format!("<</Length {}>>\nstream\n{content}\nendstream", content.len());
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        stream.as_str(),
        font,
    ];
    objects.extend_from_slice(more);
    raw(&objects)
}

/// One page with annotations, given as dictionaries' text, and more entries of the catalog.
pub(crate) fn annotated(annotations: &[&str], catalog: &str) -> Vec<u8> {
    let content = "BT /F1 11 Tf 72 700 Td (A page with notes on it.) Tj ET";
    let stream = format!("<</Length {}>>\nstream\n{content}\nendstream", content.len());
    let page = format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Annots[{}]/Resources<</Font<</F1 5 0 R>>>>>>",
        annotations.join(" ")
    );
    raw(&[
        &format!("<</Type/Catalog/Pages 2 0 R {catalog}>>"),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        &page,
        &stream,
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ])
}

/// A document whose only page draws a stream of these filters and bytes.
pub(crate) fn filtered(filters: &[&str], data: Vec<u8>) -> Vec<u8> {
    let mut builder = Builder::new();
    let page = builder.add(leaf(1));
    let mut document = builder.finish();
    let names: Vec<Object> = filters.iter().map(|name| Object::Name(name.as_bytes().to_vec())).collect();
    let content = document.add_object(Stream::new(dictionary! { "Filter" => names }, data));
    document.get_dictionary_mut(page).expect("the page").set("Contents", content);
    written(document)
}

/// Encrypted with AES-256 under this password of the user's; the owner's is another.
pub(crate) fn encrypted(password: &str) -> Vec<u8> {
    use lopdf::encryption::crypt_filters::{Aes256CryptFilter, CryptFilter};
    use lopdf::{EncryptionState, EncryptionVersion, Permissions};
    let mut document: Document = pages(1).finish();
    let id = || Object::string_literal("0123456789abcdef");
    document.trailer.set("ID", vec![id(), id()]);
    let filter: std::sync::Arc<dyn CryptFilter> = std::sync::Arc::new(Aes256CryptFilter);
    let version = EncryptionVersion::V5 {
        encrypt_metadata: true,
        crypt_filters: [(b"StdCF".to_vec(), filter)].into(),
        file_encryption_key: &[7; 32],
        stream_filter: b"StdCF".to_vec(),
        string_filter: b"StdCF".to_vec(),
        owner_password: "the owner's",
        user_password: password,
        permissions: Permissions::all(),
    };
    document.encrypt(&EncryptionState::try_from(version).expect("a state")).expect("encryption");
    written(document)
}
