//! Plans without a model: comparison, list, several questions in one, and names to be followed; in English, Spanish
//! and Chinese.
//!
//! The query itself always runs as the first step, so that a pattern that was wrong costs nothing but the extra steps;
//! a last step follows the names that the others found (what is called a bridge question needs it).

use async_trait::async_trait;
use quarry_language::{Query, detect};

use super::cues::{self, ASKS_ZH, COMPARES_ZH, CUES, Cues, JOINS_ZH};
use super::names::names;
use super::{Plan, PlanAsk, PlanFault, Planner, STEPS, SUB_QUERY_BYTES, Step};
use crate::spending::Spending;

/// Concepts that a query needs before it can hide a second step: a name and what is asked of it.
const BRIDGE_CONCEPTS: usize = 2;

/// Divides queries by their wording.
#[derive(Debug, Clone, Copy, Default)]
pub struct PatternPlanner;

#[async_trait]
impl Planner for PatternPlanner {
    fn name(&self) -> String {
        "patterns".into()
    }

    async fn plan(&self, ask: &PlanAsk<'_>, _: &Spending<'_>) -> Result<Plan, PlanFault> {
        Ok(divide(ask.query, ask.languages))
    }
}

/// The plan that a query's wording gives.
pub(super) fn divide(query: &str, languages: &[String]) -> Plan {
    if query.len() > SUB_QUERY_BYTES {
        let cut = &query[..query.floor_char_boundary(SUB_QUERY_BYTES)];
        return Plan::single(cut, "patterns", "a long text is searched by its beginning");
    }
    let lang = match detect(query) {
        "und" if query.chars().any(quarry_language::script::is_ideographic) => "zh",
        "und" => languages.first().map_or("en", String::as_str),
        lang => lang,
    };
    let cues = cues::of(lang);
    let divided = several_questions(query)
        .map(|parts| (parts, "several questions in one"))
        .or_else(|| in_chinese(query, lang).map(|parts| (parts, "things to be compared or listed")))
        .or_else(|| named(query, lang, cues).map(|parts| (parts, "things to be compared or listed")))
        .or_else(|| paired(query, cues).map(|parts| (parts, "two things to be compared")));
    let (mut parts, reason) = divided.unwrap_or((Vec::new(), "one question"));
    parts.retain(|part| !part.trim().is_empty() && part != query);
    parts.truncate(STEPS - 2);
    let mut steps = vec![Step { id: "s1".into(), sub_query: query.to_owned(), depends_on: vec![] }];
    for part in parts {
        steps.push(Step { id: format!("s{}", steps.len() + 1), sub_query: part, depends_on: vec![] });
    }
    if Query::new(query, &[lang]).concepts.len() >= BRIDGE_CONCEPTS {
        let depends_on = steps.iter().map(|step| step.id.clone()).collect();
        steps.push(Step { id: format!("s{}", steps.len() + 1), sub_query: query.to_owned(), depends_on });
    }
    Plan { steps, made_by: "patterns".into(), reason: reason.into() }
}

/// Questions that stand side by side, whatever language they are in.
fn several_questions(query: &str) -> Option<Vec<String>> {
    let mut text = query.to_owned();
    for (joint, begins) in CUES.iter().flat_map(|cues| cues.next) {
        text = text.replace(joint, &format!("?{begins}"));
    }
    let parts: Vec<String> = text
        .split(['?', '？', ';', '；'])
        .map(|part| part.trim_matches(|c: char| c.is_whitespace() || c == '¿').to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    let each_asks = parts.iter().all(|part| Query::new(part, &[]).concepts.len() >= 2);
    (parts.len() > 1 && each_asks).then_some(parts)
}

/// One sub-query for each of the names compared or listed: the name, and what is asked about all of them.
fn named(query: &str, lang: &str, cues: &Cues) -> Option<Vec<String>> {
    let names = names(query, lang);
    if names.len() < 2 {
        return None;
    }
    let lower = query.to_lowercase();
    let has_cue = lower.split(|c: char| !c.is_alphanumeric()).any(|word| cues.comparing.contains(&word));
    if !has_cue && !query.contains(", ") && !JOINS_ZH.iter().any(|join| query.contains(join)) {
        return None;
    }
    let mut rest = String::new();
    let mut at = 0;
    for name in &names {
        rest.push_str(query.get(at..name.start)?);
        rest.push(' ');
        at = name.end;
    }
    rest.push_str(query.get(at..)?);
    let is_mark = |c: char| c.is_whitespace() || "?¿,\"“”《》，？、".contains(c);
    let rest: Vec<&str> =
        rest.split(is_mark).filter(|word| !word.is_empty() && !cues.comparing.contains(&word.to_lowercase().as_str())).collect();
    let rest = rest.join(" ");
    Some(names.into_iter().filter_map(|name| Some(format!("{} {rest}", query.get(name)?))).collect())
}

/// `difference between the pump and the valve`: what is said of both is what stands around them.
fn paired(query: &str, cues: &Cues) -> Option<Vec<String>> {
    let lower = query.to_lowercase();
    if lower.len() != query.len() {
        return None;
    }
    for (opens, joins) in cues.pairs {
        let Some(start) = lower.find(opens).map(|at| at + opens.len()) else { continue };
        let Some((middle, join)) = joins.iter().filter_map(|join| Some((start + lower.get(start..)?.find(join)?, *join))).min() else {
            continue;
        };
        let tail = middle + join.len();
        let end = lower.get(tail..)?.find(['?', '.', ',', ';']).map_or(lower.len(), |at| tail + at);
        let (first, second) = (query.get(start..middle)?.trim(), query.get(tail..end)?.trim());
        let around = format!("{} {}", query.get(..start - opens.len())?, query.get(end..)?);
        let around = around.trim_matches(|c: char| c.is_whitespace() || "?¿.".contains(c));
        if !first.is_empty() && !second.is_empty() {
            return Some([first, second].iter().map(|thing| format!("{around} {thing}").trim().to_owned()).collect());
        }
    }
    None
}

/// `A和B的区别是什么`, `A、B和C分别…`: nothing sets words apart, so that the joins have to.
fn in_chinese(query: &str, lang: &str) -> Option<Vec<String>> {
    if lang != "zh" || !COMPARES_ZH.iter().any(|cue| query.contains(cue)) || query.contains(['《', '“', '「']) {
        return None;
    }
    let text = query.trim_end_matches(['？', '?', '。']).trim_start_matches("比较");
    let (last, join) = JOINS_ZH.iter().filter_map(|join| Some((text.rfind(join)?, *join))).max_by_key(|(at, _)| *at)?;
    let (before, rest) = (text.get(..last)?, text.get(last + join.len()..)?);
    let end = ASKS_ZH.iter().filter_map(|mark| rest.find(mark)).filter(|&end| end > 0).min()?;
    let (second, asked) = (rest.get(..end)?, rest.get(end..)?);
    let mut things: Vec<&str> = vec![before];
    for join in JOINS_ZH {
        things = things.into_iter().flat_map(|thing| thing.split(join)).collect();
    }
    things.push(second);
    let whole = things.iter().all(|thing| (2..=20).contains(&thing.chars().count()));
    whole.then(|| things.into_iter().map(|thing| format!("{thing}{asked}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(query: &str) -> Vec<String> {
        let plan = divide(query, &[]).checked().unwrap();
        assert_eq!(plan.steps[0].sub_query, query);
        plan.steps.into_iter().skip(1).filter(|step| step.depends_on.is_empty()).map(|step| step.sub_query).collect()
    }

    #[test]
    fn comparisons_ask_about_each() {
        let found = parts("Are both Coldplay and Pierre Bouvier from the same country?");
        assert!(found[0].starts_with("Coldplay ") && found[0].contains("country") && !found[0].contains("Bouvier"), "{found:?}");
        assert!(found[1].starts_with("Pierre Bouvier "));
        let found = parts("¿Quién nació antes, Gabriela Mistral o Pablo Neruda?");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].starts_with("Pablo Neruda") && found[1].contains("nació"));
        assert_eq!(parts("水泵和阀门的扭矩有什么区别？"), ["水泵的扭矩有什么区别", "阀门的扭矩有什么区别"]);
        assert_eq!(parts("《红楼梦》和《西游记》的作者分别是谁？").len(), 2);
    }

    #[test]
    fn things_without_capitals_are_compared_too() {
        assert_eq!(
            parts("What is the difference in torque between the flange bolts and the lid screws?"),
            ["What is the difference in torque the flange bolts", "What is the difference in torque the lid screws"]
        );
        assert_eq!(parts("¿Qué diferencia de presión hay entre la bomba pequeña y la bomba grande?").len(), 2);
        assert_eq!(parts("compare the old valve with the new valve"), ["the old valve", "the new valve"]);
    }

    #[test]
    fn lists_and_several_questions_are_divided() {
        assert_eq!(parts("What are the torques of Model Alpha, Model Beta and Model Gamma?").len(), 3);
        assert_eq!(parts("Which bolts hold the flange and how often must oil be changed?").len(), 2);
        assert_eq!(parts("What is the flange torque? When is the oil changed?").len(), 2);
        assert_eq!(parts("¿Qué pernos sujetan la brida y cuándo se cambia el aceite?").len(), 2);
        assert_eq!(parts("水泵的扭矩是多少？阀门的压力是多少？").len(), 2);
        assert_eq!(parts("水泵、阀门和法兰的扭矩分别是多少？").len(), 3);
    }

    #[test]
    fn one_question_stays_one_and_names_are_followed() {
        for query in [
            "Where was the founder of the pump factory born?",
            "¿Dónde nació el fundador de la fábrica de bombas?",
            "水泵厂的创始人出生在哪里？",
        ] {
            let plan = divide(query, &[]);
            assert_eq!(plan.steps.len(), 2, "{plan:?}");
            assert_eq!(plan.steps[1].depends_on, ["s1"]);
        }
        assert_eq!(divide("torque", &[]).steps.len(), 1);
    }

    proptest! {
        #[test]
        fn every_text_gives_a_plan_within_the_rules(text in "[A-Ca-d和与的、，？?,;¿ \"《》ñ]{1,60}") {
            prop_assume!(!text.trim().is_empty());
            let plan = divide(text.trim(), &["es".to_owned()]).checked();
            prop_assert!(plan.is_ok(), "{text}: {plan:?}");
        }
    }

    #[test]
    fn never_more_steps_than_allowed() {
        let many = "Compare Ada, Basil, Clara, Doris, Emil, Frida, Gustav and Hanna by age and weight?";
        assert_eq!(divide(many, &[]).checked().unwrap().steps.len(), STEPS);
        assert!(divide(&"long ".repeat(1_000), &[]).checked().is_ok());
    }
}
