//! The data: every way of numbering that is known, one language per entry, with an example for and one against each.

use super::number::NumberKind;
use super::shape::Shape;

/// One way of numbering.
#[derive(Debug, PartialEq, Eq)]
pub struct Pattern {
    /// ISO 639-1, or `und` for what every language shares.
    pub language: &'static str,
    /// Its name, unique in the table.
    pub name: &'static str,
    /// How a line is matched.
    pub shape: Shape,
    /// Where its sections stand among those of other patterns: 1 part, 2 chapter or appendix, 3 section, 4 article, 5
    /// below; `None` when only the document can tell.
    pub rank: Option<u32>,
    /// A line it must match.
    pub positive: &'static str,
    /// A line it must not match, though it begins alike.
    pub negative: &'static str,
}

#[rustfmt::skip]
const EN: &[&str] = &[
    "one/first", "two/second", "three/third", "four/fourth", "five/fifth", "six/sixth", "seven/seventh", "eight/eighth", "nine/ninth",
    "ten/tenth", "eleven/eleventh", "twelve/twelfth", "thirteen/thirteenth", "fourteen/fourteenth", "fifteen/fifteenth",
    "sixteen/sixteenth", "seventeen/seventeenth", "eighteen/eighteenth", "nineteen/nineteenth", "twenty/twentieth",
];
#[rustfmt::skip]
const ES: &[&str] = &[
    "uno/una/primero/primera/primer", "dos/segundo/segunda", "tres/tercero/tercera/tercer", "cuatro/cuarto/cuarta", "cinco/quinto/quinta",
    "seis/sexto/sexta", "siete/séptimo/séptima", "ocho/octavo/octava", "nueve/noveno/novena", "diez/décimo/décima",
    "once/undécimo/undécima", "doce/duodécimo/duodécima",
];
#[rustfmt::skip]
const PT: &[&str] = &[
    "um/uma/primeiro/primeira", "dois/duas/segundo/segunda", "três/terceiro/terceira", "quatro/quarto/quarta", "cinco/quinto/quinta",
    "seis/sexto/sexta", "sete/sétimo/sétima", "oito/oitavo/oitava", "nove/nono/nona", "dez/décimo/décima", "onze", "doze",
];
#[rustfmt::skip]
const FR: &[&str] = &[
    "un/une/premier/première", "deux/deuxième/second/seconde", "trois/troisième", "quatre/quatrième", "cinq/cinquième", "six/sixième",
    "sept/septième", "huit/huitième", "neuf/neuvième", "dix/dixième", "onze/onzième", "douze/douzième",
];
#[rustfmt::skip]
const DE: &[&str] = &[
    "eins/erster/erste/erstes", "zwei/zweiter/zweite/zweites", "drei/dritter/dritte/drittes", "vier/vierter/vierte/viertes",
    "fünf/fünfter/fünfte/fünftes", "sechs/sechster/sechste/sechstes", "sieben/siebter/siebte/siebtes/siebenter/siebente/siebentes",
    "acht/achter/achte/achtes", "neun/neunter/neunte/neuntes", "zehn/zehnter/zehnte/zehntes", "elf/elfter/elfte/elftes",
    "zwölf/zwölfter/zwölfte/zwölftes",
];
#[rustfmt::skip]
const IT: &[&str] = &[
    "uno/una/primo/prima", "due/secondo/seconda", "tre/terzo/terza", "quattro/quarto/quarta", "cinque/quinto/quinta", "sei/sesto/sesta",
    "sette/settimo/settima", "otto/ottavo/ottava", "nove/nono/nona", "dieci/decimo/decima", "undici/undicesimo/undicesima",
    "dodici/dodicesimo/dodicesima",
];
#[rustfmt::skip]
const RU: &[&str] = &[
    "один/первый/первая/первое", "два/второй/вторая/второе", "три/третий/третья/третье", "четыре/четвёртый/четвёртая/четвертый/четвертая",
    "пять/пятый/пятая", "шесть/шестой/шестая", "семь/седьмой/седьмая", "восемь/восьмой/восьмая", "девять/девятый/девятая",
    "десять/десятый/десятая", "одиннадцать/одиннадцатый/одиннадцатая", "двенадцать/двенадцатый/двенадцатая",
];

macro_rules! patterns {
    ($($language:literal $name:literal $shape:expr, $rank:expr, $positive:literal, $negative:literal;)*) => {
        /// Every pattern, the first that matches a line wins: words before bare numbers, deep numbers before single ones.
        pub const PATTERNS: &[Pattern] = &[$(Pattern {
            language: $language, name: $name, shape: $shape, rank: $rank, positive: $positive, negative: $negative,
        }),*];
    };
}

const fn word(words: &'static [&'static str], numerals: &'static [&'static str]) -> Shape {
    Shape::Word { words, numerals }
}

const fn ordinal(words: &'static [&'static str], numerals: &'static [&'static str]) -> Shape {
    Shape::OrdinalWord { words, numerals }
}

const fn around(prefix: &'static str, units: &'static [&'static str]) -> Shape {
    Shape::Around { prefix, units }
}

const fn marked(kind: NumberKind, open: &'static [char], close: &'static [char]) -> Shape {
    Shape::Marked { kind, open, close }
}

const fn alone(words: &'static [&'static str]) -> Shape {
    Shape::Alone { words }
}

const PART: Option<u32> = Some(1);
const CHAPTER: Option<u32> = Some(2);
const SECTION: Option<u32> = Some(3);
const ARTICLE: Option<u32> = Some(4);
const BELOW: Option<u32> = Some(5);
const BRACKETS: &[char] = &['(', '（'];
const CLOSING: &[char] = &[')', '）'];

patterns! {
    "en" "en part" word(&["part", "book", "volume", "title"], EN), PART, "Part II: The Journey", "Part one of the plan was simple";
    "en" "en chapter" word(&["chapter", "lesson", "unit", "module"], EN), CHAPTER, "Chapter 4 Results", "Chapter 4 of the book is long";
    "en" "en section" word(&["section", "clause"], EN), SECTION, "SECTION 2.1. Definitions", "Section 3 describes the method";
    "en" "en article" word(&["article"], EN), ARTICLE, "Article 12 – Termination", "Article 5 shall apply mutatis mutandis";
    "en" "en annex" word(&["appendix", "annex", "schedule", "exhibit", "attachment"], EN), CHAPTER, "Appendix B Data Sheets", "Schedule a meeting";
    "en" "en ordinal" ordinal(&["part", "chapter", "book", "section"], EN), CHAPTER, "First Part: Origins", "First part of the day";
    "en" "en alone" alone(&["appendix", "appendices", "annex", "annexes"]), CHAPTER, "APPENDIX", "Appendix removed";

    "es" "es parte" word(&["parte", "libro", "título", "titulo"], ES), PART, "Título II De los derechos", "Parte 2 de la obra";
    "es" "es capítulo" word(&["capítulo", "capitulo", "cap.", "unidad", "tema"], ES), CHAPTER, "Capítulo primero. El viaje", "Capítulo 3 trata del clima";
    "es" "es sección" word(&["sección", "seccion"], ES), SECTION, "SECCIÓN 2.ª Disposiciones", "Sección 4 del reglamento";
    "es" "es artículo" word(&["artículo", "articulo", "art."], ES), ARTICLE, "Artículo 7. Plazos", "Artículo 7 establece que";
    "es" "es anexo" word(&["anexo", "apéndice", "apendice"], ES), CHAPTER, "Anexo IV", "Anexo el documento";
    "es" "es ordinal" ordinal(&["parte", "capítulo", "sección"], ES), PART, "Primera parte", "Primera parte del partido";

    "pt" "pt parte" word(&["parte", "livro", "título"], PT), PART, "Livro I Das pessoas", "Parte 2 do livro";
    "pt" "pt capítulo" word(&["capítulo", "capitulo", "unidade"], PT), CHAPTER, "CAPÍTULO III — DAS PENAS", "Capítulo 3 apresenta os dados";
    "pt" "pt seção" word(&["seção", "secção", "secao"], PT), SECTION, "Seção 2 Métodos", "Seção 2 descreve os métodos";
    "pt" "pt artigo" word(&["artigo"], PT), ARTICLE, "Artigo 15. Vigência", "Artigo 15 da lei";
    "pt" "pt anexo" word(&["anexo", "apêndice", "apendice"], PT), CHAPTER, "Apêndice A Questionário", "Anexo a este e-mail";
    "pt" "pt ordinal" ordinal(&["parte", "capítulo", "seção"], PT), PART, "Segunda parte: O regresso", "Segunda parte do jogo";

    "fr" "fr partie" word(&["partie", "livre", "titre", "tome"], FR), PART, "Titre III Des contrats", "Partie 2 du programme";
    "fr" "fr chapitre" word(&["chapitre"], FR), CHAPTER, "Chapitre premier – Le départ", "Chapitre 3 traite du climat";
    "fr" "fr section" word(&["section"], FR), SECTION, "Section deux : Procédure", "Section 2 du code";
    "fr" "fr article" word(&["article", "art."], FR), ARTICLE, "Article premier. Objet", "Article 3 prévoit que";
    "fr" "fr annexe" word(&["annexe", "appendice"], FR), CHAPTER, "Annexe C : Tableaux", "Annexe à ce courrier";
    "fr" "fr ordinal" ordinal(&["partie", "chapitre", "section"], FR), PART, "Première partie", "Première partie du match";

    "de" "de teil" word(&["teil", "buch", "band"], DE), PART, "Teil 1: Grundlagen", "Teil 1 der Reihe";
    "de" "de kapitel" word(&["kapitel", "lektion", "modul"], DE), CHAPTER, "Kapitel IV Ergebnisse", "Kapitel 4 beschreibt die Ergebnisse";
    "de" "de abschnitt" word(&["abschnitt", "unterabschnitt"], DE), SECTION, "Abschnitt 2.3 Messung", "Abschnitt 3 beschreibt den Aufbau";
    "de" "de artikel" word(&["artikel", "art."], DE), ARTICLE, "Artikel 20 Verfassungsgrundsätze", "Artikel 20 des Grundgesetzes";
    "de" "de anhang" word(&["anhang", "anlage", "beilage"], DE), CHAPTER, "Anhang A Fragebogen", "Anlage zur Rechnung";
    "de" "de ordinal" ordinal(&["teil", "kapitel", "abschnitt", "buch"], DE), CHAPTER, "Zweiter Abschnitt", "Erster Teil der Reihe";

    "it" "it parte" word(&["parte", "libro", "titolo"], IT), PART, "Titolo V Delle obbligazioni", "Parte 2 del volume";
    "it" "it capitolo" word(&["capitolo", "unità", "modulo"], IT), CHAPTER, "Capitolo primo: La partenza", "Capitolo 3 tratta del clima";
    "it" "it sezione" word(&["sezione"], IT), SECTION, "Sezione 4 Metodi", "Sezione 4 descrive i metodi";
    "it" "it articolo" word(&["articolo", "art."], IT), ARTICLE, "Articolo 9 - Durata", "Articolo 9 della legge";
    "it" "it allegato" word(&["allegato", "appendice"], IT), CHAPTER, "Allegato B Elenco", "Allegato alla presente";
    "it" "it ordinal" ordinal(&["parte", "capitolo", "sezione"], IT), PART, "Prima parte: Origini", "Prima parte della gara";

    "ru" "ru часть" word(&["часть", "книга", "том"], RU), PART, "Часть вторая. Дорога", "Часть 2 этого договора";
    "ru" "ru глава" word(&["глава", "гл."], RU), CHAPTER, "Глава 3. Результаты", "Глава 3 описывает результаты";
    "ru" "ru раздел" word(&["раздел", "подраздел"], RU), SECTION, "Раздел II Общие положения", "Раздел 2 настоящего закона";
    "ru" "ru статья" word(&["статья", "ст."], RU), ARTICLE, "Статья 15. Сроки", "Статья 15 устанавливает сроки";
    "ru" "ru приложение" word(&["приложение"], RU), CHAPTER, "Приложение А", "Приложение к договору";
    "ru" "ru ordinal" ordinal(&["часть", "глава", "раздел"], RU), PART, "Первая часть", "Первая часть пути";

    "nl" "nl deel" word(&["deel", "boek"], &[]), PART, "Deel 2 De reis", "Deel 2 van de reeks";
    "nl" "nl hoofdstuk" word(&["hoofdstuk"], &["een/eerste", "twee/tweede", "drie/derde"]), CHAPTER, "Hoofdstuk 3 Resultaten", "Hoofdstuk 3 beschrijft de resultaten";
    "nl" "nl bijlage" word(&["bijlage", "aanhangsel"], &[]), CHAPTER, "Bijlage B Vragenlijst", "Bijlage bij de brief";
    "pl" "pl część" word(&["część", "księga"], &[]), PART, "Część II Podróż", "Część 2 tej serii";
    "pl" "pl rozdział" word(&["rozdział"], &["pierwszy", "drugi", "trzeci"]), CHAPTER, "Rozdział 3 Wyniki", "Rozdział 3 opisuje wyniki";
    "pl" "pl artykuł" word(&["artykuł"], &[]), ARTICLE, "Artykuł 12. Terminy", "Artykuł 12 stanowi inaczej";
    "pl" "pl załącznik" word(&["załącznik"], &[]), CHAPTER, "Załącznik 1 Formularz", "Załącznik do umowy";
    "sv" "sv kapitel" word(&["kapitel", "avsnitt", "bilaga"], &["ett/första", "två/andra", "tre/tredje"]), CHAPTER, "Bilaga 2 Enkät", "Bilaga till avtalet";
    "uk" "uk розділ" word(&["розділ", "глава"], &["перший/перша", "другий/друга", "третій/третя"]), CHAPTER, "Розділ 3. Результати", "Розділ 3 описує результати";
    "uk" "uk стаття" word(&["стаття"], &[]), ARTICLE, "Стаття 7. Строки", "Стаття 7 визначає строки";
    "tr" "tr bölüm" word(&["bölüm", "kısım"], &["bir/birinci", "iki/ikinci", "üç/üçüncü"]), CHAPTER, "BÖLÜM 2: Yöntem", "Bölüm 2 yöntemi anlatır";
    "tr" "tr madde" word(&["madde"], &[]), ARTICLE, "Madde 5 – Süre", "Madde 5 uyarınca";
    "vi" "vi chương" word(&["chương", "phần"], &[]), CHAPTER, "Chương III Kết quả", "Chương 3 trình bày kết quả";
    "vi" "vi điều" word(&["điều"], &[]), ARTICLE, "Điều 12. Thời hạn", "Điều 12 quy định thời hạn";
    "ar" "ar باب" word(&["الباب", "الجزء", "القسم"], &["الأول/الاول", "الثاني", "الثالث", "الرابع", "الخامس"]), PART, "الباب الأول أحكام عامة", "الباب مفتوح";
    "ar" "ar فصل" word(&["الفصل"], &["الأول/الاول", "الثاني", "الثالث", "الرابع", "الخامس"]), CHAPTER, "الفصل الثاني النتائج", "الفصل طويل";
    "ar" "ar مادة" word(&["المادة", "مادة"], &["الأولى/الاولى", "الثانية", "الثالثة", "الرابعة", "الخامسة"]), ARTICLE, "المادة 5: المدة", "المادة العلمية";

    "zh" "zh 编" around("第", &["编", "編", "部分", "部", "篇", "卷"]), PART, "第一编 总则", "第一次编写";
    "zh" "zh 章" around("第", &["章", "回", "讲", "講", "课", "課", "单元", "單元"]), CHAPTER, "第十二章　違約責任", "第一印章";
    "zh" "zh 节" around("第", &["节", "節"]), SECTION, "第3节 测量方法", "第三个节目";
    "zh" "zh 条" around("第", &["条", "條"]), ARTICLE, "第五条 合同期限", "第五个条件";
    "zh" "zh 款" around("第", &["款", "项", "項", "目"]), BELOW, "第二款 例外", "第二批款项";
    "zh" "zh 附录" word(&["附录", "附錄", "附件", "附表"], &[]), CHAPTER, "附录A 问卷", "附件已经发送";
    "zh" "zh alone" alone(&["附录", "附錄", "附件"]), CHAPTER, "附录", "附录部分删除";
    "ja" "ja 部" around("第", &["部", "編"]), PART, "第2部 応用", "第2回";
    "ja" "ja 節" around("第", &["節"]), SECTION, "第2節 測定", "第2次節約";
    "ja" "ja 条" around("第", &["条", "項"]), ARTICLE, "第１０条　契約期間", "第三者条項";
    "ja" "ja 章" around("第", &["章"]), CHAPTER, "第3章 結果", "第3者の章";
    "ja" "ja 付録" word(&["付録", "附録", "別紙", "別表", "付属書"], &[]), CHAPTER, "付録A 調査票", "付録を参照";
    "ko" "ko 편" around("제", &["편", "부"]), PART, "제1편 총칙", "제1회";
    "ko" "ko 장" around("제", &["장"]), CHAPTER, "제 2 장 연구 방법", "제2의 장소";
    "ko" "ko 절" around("제", &["절"]), SECTION, "제3절 측정", "제3의 절차";
    "ko" "ko 조" around("제", &["조"]), ARTICLE, "제5조(계약 기간)", "제5의 조건";
    "ko" "ko 부록" word(&["부록", "별첨", "별표"], &[]), CHAPTER, "부록 A 설문지", "부록을 참조";

    "und" "paragraph sign" word(&["§", "§§"], &[]), ARTICLE, "§ 5 Geltungsbereich", "§ 5 gilt entsprechend";
    "und" "dotted" Shape::Dotted, None, "2.3.1 Sampling of Water", "3.5 percent of all cases";
    "und" "letter dotted" Shape::LetterDotted, None, "A.2 Raw Data", "A.2b is a part number";
    "und" "number stop" marked(NumberKind::Digits, &[], &['.', '．']), None, "3. Methods", "3. Stir until the sauce has thickened well.";
    "und" "number comma" marked(NumberKind::Digits, &[], &['、']), None, "2、研究方法", "2个、3个";
    "und" "number bracket" marked(NumberKind::Digits, &[], CLOSING), None, "2) Scope", "2) add the flour";
    "und" "number in brackets" marked(NumberKind::Digits, BRACKETS, CLOSING), None, "(3) Exceptions", "(555) 123-4567";
    "und" "roman stop" marked(NumberKind::Roman, &[], &['.', '．', '、']), None, "IV. Discussion", "IVX. Nonsense";
    "und" "roman bracket" marked(NumberKind::Roman, &[], CLOSING), None, "ii) Exceptions", "ii) the buyer pays";
    "und" "roman in brackets" marked(NumberKind::Roman, BRACKETS, CLOSING), None, "(iv) Notices", "(iv) the seller delivers";
    "und" "letter stop" marked(NumberKind::Letter, &[], &['.', '．', '、']), None, "B. Results", "J. R. Smith";
    "und" "letter bracket" marked(NumberKind::Letter, &[], CLOSING), None, "b) Costs", "b) pay the costs";
    "und" "letter in brackets" marked(NumberKind::Letter, BRACKETS, CLOSING), None, "(a) Definitions", "(c) 2024 Example Ltd";
    "zh" "chinese comma" marked(NumberKind::Chinese, &[], &['、', '.', '．']), None, "一、研究背景", "一个、两个";
    "zh" "chinese in brackets" marked(NumberKind::Chinese, BRACKETS, CLOSING), None, "（三）实施步骤", "（三千元）";
    "und" "number" Shape::Bare, None, "4 Discussion", "4 people were hurt";
}
