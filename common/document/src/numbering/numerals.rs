//! Numbers as lists show them (ECMA-376 part 1, 17.18.59 `ST_NumberFormat`).

/// Writes `number` in one of Word's formats; one that is not known reads as decimal, as Word shows it.
pub fn format(number: i64, format: &str) -> String {
    let Ok(value) = usize::try_from(number) else { return number.to_string() };
    match format {
        "none" | "bullet" => String::new(),
        "decimalZero" => format!("{number:02}"),
        "upperLetter" => letters(value, &LATIN).to_uppercase(),
        "lowerLetter" => letters(value, &LATIN),
        "upperRoman" => roman(value).unwrap_or_else(|| number.to_string()).to_uppercase(),
        "lowerRoman" => roman(value).unwrap_or_else(|| number.to_string()),
        "ordinal" => format!("{number}{}", ordinal_suffix(value)),
        "cardinalText" => sentence_case(&words(value)),
        "ordinalText" => sentence_case(&ordinal_words(value)),
        "hex" => format!("{number:X}"),
        "chicago" => chicago(value),
        "russianLower" => letters(value, &RUSSIAN),
        "russianUpper" => letters(value, &RUSSIAN).to_uppercase(),
        "hebrew2" => letters(value, &HEBREW),
        "arabicAlpha" => letters(value, &ARABIC),
        "decimalFullWidth" | "decimalFullWidth2" => digits(number, '０'),
        "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => enclosed(value, '①', 20),
        "decimalEnclosedParen" => enclosed(value, '⑴', 20),
        "decimalEnclosedFullstop" => enclosed(value, '⒈', 20),
        "numberInDash" => format!("- {number} -"),
        "ideographDigital" | "japaneseDigitalTenThousand" | "taiwaneseDigital" | "koreanDigital2" => spelled(value, &CHINESE_DIGITS),
        "chineseCounting" | "chineseCountingThousand" | "taiwaneseCounting" | "taiwaneseCountingThousand" | "japaneseCounting" => {
            chinese(value, &CHINESE)
        }
        "chineseLegalSimplified" => chinese(value, &CHINESE_LEGAL),
        "ideographLegalTraditional" | "japaneseLegal" => chinese(value, &CHINESE_LEGAL_TRADITIONAL),
        "ideographTraditional" => letters(value, &STEMS),
        "ideographZodiac" => letters(value, &BRANCHES),
        "ideographEnclosedCircle" => enclosed(value, '㊀', 10),
        "aiueo" | "aiueoFullWidth" => letters(value, &AIUEO),
        "iroha" | "irohaFullWidth" => letters(value, &IROHA),
        "koreanDigital" => spelled(value, &KOREAN_DIGITS),
        "koreanCounting" | "koreanLegal" => chinese(value, &KOREAN),
        "ganada" => letters(value, &GANADA),
        "chosung" => letters(value, &CHOSUNG),
        "hindiNumbers" => digits(number, '०'),
        "thaiNumbers" => digits(number, '๐'),
        _ => number.to_string(),
    }
}

const LATIN: [char; 26] =
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z'];
const RUSSIAN: [char; 29] = [
    'а', 'б', 'в', 'г', 'д', 'е', 'ж', 'з', 'и', 'к', 'л', 'м', 'н', 'о', 'п', 'р', 'с', 'т', 'у', 'ф', 'х', 'ц', 'ч', 'ш', 'щ', 'ы', 'э',
    'ю', 'я',
];
const HEBREW: [char; 22] = ['א', 'ב', 'ג', 'ד', 'ה', 'ו', 'ז', 'ח', 'ט', 'י', 'כ', 'ל', 'מ', 'נ', 'ס', 'ע', 'פ', 'צ', 'ק', 'ר', 'ש', 'ת'];
const ARABIC: [char; 28] = [
    'أ', 'ب', 'ت', 'ث', 'ج', 'ح', 'خ', 'د', 'ذ', 'ر', 'ز', 'س', 'ش', 'ص', 'ض', 'ط', 'ظ', 'ع', 'غ', 'ف', 'ق', 'ك', 'ل', 'م', 'ن', 'ه', 'و',
    'ي',
];
const STEMS: [char; 10] = ['甲', '乙', '丙', '丁', '戊', '己', '庚', '辛', '壬', '癸'];
const BRANCHES: [char; 12] = ['子', '丑', '寅', '卯', '辰', '巳', '午', '未', '申', '酉', '戌', '亥'];
const AIUEO: [char; 46] = [
    'ア', 'イ', 'ウ', 'エ', 'オ', 'カ', 'キ', 'ク', 'ケ', 'コ', 'サ', 'シ', 'ス', 'セ', 'ソ', 'タ', 'チ', 'ツ', 'テ', 'ト', 'ナ', 'ニ',
    'ヌ', 'ネ', 'ノ', 'ハ', 'ヒ', 'フ', 'ヘ', 'ホ', 'マ', 'ミ', 'ム', 'メ', 'モ', 'ヤ', 'ユ', 'ヨ', 'ラ', 'リ', 'ル', 'レ', 'ロ', 'ワ',
    'ヲ', 'ン',
];
const IROHA: [char; 48] = [
    'イ', 'ロ', 'ハ', 'ニ', 'ホ', 'ヘ', 'ト', 'チ', 'リ', 'ヌ', 'ル', 'ヲ', 'ワ', 'カ', 'ヨ', 'タ', 'レ', 'ソ', 'ツ', 'ネ', 'ナ', 'ラ',
    'ム', 'ウ', 'ヰ', 'ノ', 'オ', 'ク', 'ヤ', 'マ', 'ケ', 'フ', 'コ', 'エ', 'テ', 'ア', 'サ', 'キ', 'ユ', 'メ', 'ミ', 'シ', 'ヱ', 'ヒ',
    'モ', 'セ', 'ス', 'ン',
];
const GANADA: [char; 14] = ['가', '나', '다', '라', '마', '바', '사', '아', '자', '차', '카', '타', '파', '하'];
const CHOSUNG: [char; 14] = ['ㄱ', 'ㄴ', 'ㄷ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅅ', 'ㅇ', 'ㅈ', 'ㅊ', 'ㅋ', 'ㅌ', 'ㅍ', 'ㅎ'];
const KOREAN_DIGITS: [char; 10] = ['영', '일', '이', '삼', '사', '오', '육', '칠', '팔', '구'];
const CHINESE_DIGITS: [char; 10] = ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// Digits 0–9, then ten, hundred, thousand, ten thousand; and whether ten to nineteen leave their "one" out.
struct Counting {
    digits: [char; 10],
    units: [&'static str; 4],
    myriad: char,
    bare_ten: bool,
}

const CHINESE: Counting = Counting {
    digits: ['零', '一', '二', '三', '四', '五', '六', '七', '八', '九'],
    units: ["", "十", "百", "千"],
    myriad: '万',
    bare_ten: true,
};
const CHINESE_LEGAL: Counting = Counting {
    digits: ['零', '壹', '贰', '叁', '肆', '伍', '陆', '柒', '捌', '玖'],
    units: ["", "拾", "佰", "仟"],
    myriad: '万',
    bare_ten: false,
};
const CHINESE_LEGAL_TRADITIONAL: Counting = Counting {
    digits: ['零', '壹', '貳', '參', '肆', '伍', '陸', '柒', '捌', '玖'],
    units: ["", "拾", "佰", "仟"],
    myriad: '萬',
    bare_ten: false,
};
const KOREAN: Counting = Counting { digits: KOREAN_DIGITS, units: ["", "십", "백", "천"], myriad: '만', bare_ten: true };

/// a … z, aa … zz, aaa …: the letter of the place, repeated, as Word counts.
fn letters(value: usize, alphabet: &[char]) -> String {
    let Some(index) = value.checked_sub(1) else { return String::new() };
    let size = alphabet.len().max(1);
    // Word itself stops at thirty repetitions.
    let times = index.checked_div(size).unwrap_or_default().saturating_add(1).min(30);
    let letter = index.checked_rem(size).and_then(|place| alphabet.get(place)).copied().unwrap_or('?');
    std::iter::repeat_n(letter, times).collect()
}

/// A Roman numeral in small letters, from 1 to 32,767 (as far as Word writes them).
pub fn roman(value: usize) -> Option<String> {
    const STEPS: [(usize, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if value == 0 || value > 32_767 {
        return None;
    }
    let (mut rest, mut out) = (value, String::new());
    for (step, name) in STEPS {
        while let Some(left) = rest.checked_sub(step) {
            out.push_str(name);
            rest = left;
        }
    }
    Some(out)
}

/// a … z, aa, ab …: letters as HTML and `OpenDocument` count, from 1.
pub fn positional_letters(value: usize) -> Option<String> {
    let mut rest = value;
    let mut reversed = Vec::new();
    while let Some(index) = rest.checked_sub(1) {
        let (high, place) = split(index, LATIN.len());
        reversed.push(LATIN.get(place)?);
        rest = high;
    }
    (!reversed.is_empty()).then(|| reversed.into_iter().rev().collect())
}

fn ordinal_suffix(value: usize) -> &'static str {
    match (value.checked_rem(100).unwrap_or_default(), value.checked_rem(10).unwrap_or_default()) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Cardinal words up to 999,999; digits beyond.
fn words(value: usize) -> String {
    if let Some(word) = ONES.get(value) {
        return (*word).to_owned();
    }
    let (step, name) = match value {
        0..100 => {
            let (tens, ones) = split(value, 10);
            let tens = TENS.get(tens).copied().unwrap_or_default();
            return if ones == 0 { tens.to_owned() } else { format!("{tens}-{}", words(ones)) };
        }
        100..1_000 => (100, "hundred"),
        1_000..1_000_000 => (1_000, "thousand"),
        _ => return value.to_string(),
    };
    let (high, low) = split(value, step);
    let head = format!("{} {name}", words(high));
    if low == 0 { head } else { format!("{head} {}", words(low)) }
}

fn ordinal_words(value: usize) -> String {
    let cardinal = words(value);
    let at = cardinal.rfind(['-', ' ']).map_or(0, |at| at.saturating_add(1));
    let (head, last) = cardinal.split_at(at);
    let last = match last {
        "one" => "first".to_owned(),
        "two" => "second".to_owned(),
        "three" => "third".to_owned(),
        "five" => "fifth".to_owned(),
        "eight" => "eighth".to_owned(),
        "nine" => "ninth".to_owned(),
        "twelve" => "twelfth".to_owned(),
        other => other.strip_suffix('y').map_or_else(|| format!("{other}th"), |stem| format!("{stem}ieth")),
    };
    format!("{head}{last}")
}

fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// * † ‡ §, then doubled.
fn chicago(value: usize) -> String {
    letters(value, &['*', '†', '‡', '§'])
}

fn digits(number: i64, zero: char) -> String {
    number.to_string().chars().filter_map(|digit| char::from_u32((zero as u32).saturating_add(digit.to_digit(10)?))).collect()
}

fn spelled(value: usize, names: &[char; 10]) -> String {
    value.to_string().chars().filter_map(|digit| names.get(digit.to_digit(10)? as usize).copied()).collect()
}

fn enclosed(value: usize, first: char, last: usize) -> String {
    if value == 0 || value > last {
        return value.to_string();
    }
    let code = (first as u32).saturating_add(value.saturating_sub(1) as u32);
    char::from_u32(code).map_or_else(|| value.to_string(), String::from)
}

/// Chinese counting up to 99,999,999; digits beyond.
fn chinese(value: usize, counting: &Counting) -> String {
    if value == 0 {
        return counting.digits.first().copied().map(String::from).unwrap_or_default();
    }
    if value >= 100_000_000 {
        return value.to_string();
    }
    let (high, low) = split(value, 10_000);
    let mut out = String::new();
    if high > 0 {
        out.push_str(&below_myriad(high, counting));
        out.push(counting.myriad);
        if low > 0 && low < 1_000 {
            out.extend(counting.digits.first());
        }
    }
    if low > 0 {
        out.push_str(&below_myriad(low, counting));
    }
    let one_ten: String =
        counting.digits.get(1).into_iter().chain(counting.units.get(1).and_then(|unit| unit.chars().next()).as_ref()).collect();
    if counting.bare_ten
        && let Some(rest) = out.strip_prefix(&one_ten)
    {
        return format!("{}{rest}", counting.units.get(1).copied().unwrap_or_default());
    }
    out
}

fn below_myriad(value: usize, counting: &Counting) -> String {
    let (mut out, mut gap, mut rest) = (String::new(), false, value);
    for (step, unit) in [1_000, 100, 10, 1].into_iter().zip(counting.units.iter().rev()) {
        let (digit, low) = split(rest, step);
        rest = low;
        if digit == 0 {
            gap = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            out.extend(counting.digits.first());
        }
        out.extend(counting.digits.get(digit));
        out.push_str(unit);
    }
    out
}

fn split(value: usize, by: usize) -> (usize, usize) {
    (value.checked_div(by).unwrap_or_default(), value.checked_rem(by).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn each_format_counts_as_word_does() {
        for (kind, cases) in [
            ("decimal", vec![(1, "1"), (-3, "-3")]),
            ("decimalZero", vec![(7, "07"), (12, "12")]),
            ("upperLetter", vec![(1, "A"), (26, "Z"), (27, "AA"), (53, "AAA")]),
            ("lowerLetter", vec![(3, "c")]),
            ("upperRoman", vec![(4, "IV"), (1999, "MCMXCIX")]),
            ("lowerRoman", vec![(9, "ix"), (0, "0")]),
            ("ordinal", vec![(1, "1st"), (2, "2nd"), (13, "13th"), (23, "23rd")]),
            ("cardinalText", vec![(1, "One"), (42, "Forty-two"), (1100, "One thousand one hundred")]),
            ("ordinalText", vec![(1, "First"), (20, "Twentieth"), (21, "Twenty-first"), (12, "Twelfth")]),
            ("chicago", vec![(1, "*"), (4, "§"), (5, "**")]),
            ("russianUpper", vec![(1, "А"), (10, "К")]),
            ("decimalFullWidth", vec![(12, "１２")]),
            ("decimalEnclosedCircle", vec![(3, "③"), (21, "21")]),
            ("chineseCounting", vec![(1, "一"), (10, "十"), (21, "二十一"), (105, "一百零五")]),
            ("chineseCountingThousand", vec![(1010, "一千零一十"), (20_003, "二万零三"), (100_000, "十万")]),
            ("chineseLegalSimplified", vec![(3, "叁"), (12, "壹拾贰")]),
            ("ideographDigital", vec![(105, "一〇五")]),
            ("japaneseCounting", vec![(15, "十五")]),
            ("ideographTraditional", vec![(2, "乙")]),
            ("ideographZodiac", vec![(12, "亥")]),
            ("ganada", vec![(2, "나")]),
            ("koreanCounting", vec![(11, "십일")]),
            ("iroha", vec![(3, "ハ")]),
            ("thaiNumbers", vec![(10, "๑๐")]),
            ("none", vec![(3, "")]),
            ("somethingNew", vec![(3, "3")]),
        ] {
            for (number, shown) in cases {
                assert_eq!(format(number, kind), shown, "{kind} {number}");
            }
        }
    }

    #[test]
    fn no_number_is_too_large() {
        for kind in ["upperLetter", "upperRoman", "chineseCounting", "cardinalText", "hex", "decimalEnclosedParen", "ordinalText"] {
            assert!(format(i64::MAX, kind).len() < 200, "{kind}");
        }
    }
}
