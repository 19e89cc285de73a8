//! Who wrote to whom, when, about what.

use mail_parser::{Address, HeaderName, HeaderValue, Message};

/// The subject, white space folded; `None` when there is none.
pub(crate) fn subject(message: &Message<'_>) -> Option<String> {
    let subject = fold(message.subject()?);
    (!subject.is_empty()).then_some(subject)
}

/// The headers a reader looks at, one a line.
pub(crate) fn lines(message: &Message<'_>) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push(format!("{name}: {value}"));
        }
    };
    line("From", message.from().map(people));
    line("Sender", message.sender().filter(|sender| message.from() != Some(sender)).map(people));
    line("To", message.to().map(people));
    line("Cc", message.cc().map(people));
    line("Bcc", message.bcc().map(people));
    line("Reply-To", message.reply_to().filter(|reply| message.from() != Some(reply)).map(people));
    line("Date", message.header_raw(HeaderName::Date).map(fold));
    line("Subject", subject(message));
    line("Keywords", words(message.keywords()));
    line("Comments", words(message.comments()));
    lines.join("\n")
}

/// `Name <address>`, groups with their name.
fn people(address: &Address<'_>) -> String {
    match address {
        Address::List(list) => list.iter().map(person).collect::<Vec<_>>().join(", "),
        Address::Group(groups) => groups
            .iter()
            .map(|group| {
                let members = group.addresses.iter().map(person).collect::<Vec<_>>().join(", ");
                group.name.as_ref().map_or_else(|| members.clone(), |name| format!("{}: {members}", fold(name)))
            })
            .collect::<Vec<_>>()
            .join("; "),
    }
}

fn person(person: &mail_parser::Addr<'_>) -> String {
    match (person.name().map(fold).filter(|name| !name.is_empty()), person.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (Some(name), None) => name,
        (None, address) => address.unwrap_or_default().to_owned(),
    }
}

fn words(value: &HeaderValue<'_>) -> Option<String> {
    match value {
        HeaderValue::Text(text) => Some(fold(text)),
        HeaderValue::TextList(list) => Some(list.iter().map(|text| fold(text)).collect::<Vec<_>>().join(", ")),
        _ => None,
    }
}

pub(crate) fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
