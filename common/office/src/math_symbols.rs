//! Characters and names of formulas in LaTeX.

/// Characters with a command of their own, in order of code point.
const COMMANDS: &[(char, &str)] = &[
    ('¬', "\\neg"),
    ('±', "\\pm"),
    ('·', "\\cdot"),
    ('×', "\\times"),
    ('÷', "\\div"),
    ('Γ', "\\Gamma"),
    ('Δ', "\\Delta"),
    ('Θ', "\\Theta"),
    ('Λ', "\\Lambda"),
    ('Ξ', "\\Xi"),
    ('Π', "\\Pi"),
    ('Σ', "\\Sigma"),
    ('Φ', "\\Phi"),
    ('Ψ', "\\Psi"),
    ('Ω', "\\Omega"),
    ('α', "\\alpha"),
    ('β', "\\beta"),
    ('γ', "\\gamma"),
    ('δ', "\\delta"),
    ('ε', "\\varepsilon"),
    ('ζ', "\\zeta"),
    ('η', "\\eta"),
    ('θ', "\\theta"),
    ('ι', "\\iota"),
    ('κ', "\\kappa"),
    ('λ', "\\lambda"),
    ('μ', "\\mu"),
    ('ν', "\\nu"),
    ('ξ', "\\xi"),
    ('π', "\\pi"),
    ('ρ', "\\rho"),
    ('ς', "\\varsigma"),
    ('σ', "\\sigma"),
    ('τ', "\\tau"),
    ('υ', "\\upsilon"),
    ('φ', "\\varphi"),
    ('χ', "\\chi"),
    ('ψ', "\\psi"),
    ('ω', "\\omega"),
    ('ϑ', "\\vartheta"),
    ('ϕ', "\\phi"),
    ('ϵ', "\\epsilon"),
    ('…', "\\ldots"),
    ('′', "'"),
    ('ℏ', "\\hbar"),
    ('ℓ', "\\ell"),
    ('ℕ', "\\mathbb{N}"),
    ('ℚ', "\\mathbb{Q}"),
    ('ℝ', "\\mathbb{R}"),
    ('ℤ', "\\mathbb{Z}"),
    ('ℂ', "\\mathbb{C}"),
    ('←', "\\leftarrow"),
    ('↑', "\\uparrow"),
    ('→', "\\rightarrow"),
    ('↓', "\\downarrow"),
    ('↔', "\\leftrightarrow"),
    ('↦', "\\mapsto"),
    ('⇐', "\\Leftarrow"),
    ('⇒', "\\Rightarrow"),
    ('⇔', "\\Leftrightarrow"),
    ('∀', "\\forall"),
    ('∂', "\\partial"),
    ('∃', "\\exists"),
    ('∅', "\\emptyset"),
    ('∇', "\\nabla"),
    ('∈', "\\in"),
    ('∉', "\\notin"),
    ('∋', "\\ni"),
    ('∏', "\\prod"),
    ('∐', "\\coprod"),
    ('∑', "\\sum"),
    ('−', "-"),
    ('∓', "\\mp"),
    ('∗', "*"),
    ('∘', "\\circ"),
    ('∙', "\\bullet"),
    ('√', "\\surd"),
    ('∝', "\\propto"),
    ('∞', "\\infty"),
    ('∠', "\\angle"),
    ('∧', "\\wedge"),
    ('∨', "\\vee"),
    ('∩', "\\cap"),
    ('∪', "\\cup"),
    ('∫', "\\int"),
    ('∬', "\\iint"),
    ('∭', "\\iiint"),
    ('∮', "\\oint"),
    ('∴', "\\therefore"),
    ('∼', "\\sim"),
    ('≃', "\\simeq"),
    ('≅', "\\cong"),
    ('≈', "\\approx"),
    ('≜', "\\triangleq"),
    ('≠', "\\neq"),
    ('≡', "\\equiv"),
    ('≤', "\\leq"),
    ('≥', "\\geq"),
    ('≪', "\\ll"),
    ('≫', "\\gg"),
    ('⊂', "\\subset"),
    ('⊃', "\\supset"),
    ('⊆', "\\subseteq"),
    ('⊇', "\\supseteq"),
    ('⊕', "\\oplus"),
    ('⊗', "\\otimes"),
    ('⊥', "\\perp"),
    ('⋀', "\\bigwedge"),
    ('⋁', "\\bigvee"),
    ('⋂', "\\bigcap"),
    ('⋃', "\\bigcup"),
    ('⋅', "\\cdot"),
    ('⋮', "\\vdots"),
    ('⋯', "\\cdots"),
    ('⋱', "\\ddots"),
];

/// Functions that LaTeX has a command for.
const FUNCTIONS: [&str; 32] = [
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp", "gcd", "hom", "inf", "ker", "lg",
    "lim", "liminf", "limsup", "ln", "log", "max", "min", "Pr", "sec", "sin", "sinh", "sup", "tan", "tanh",
];

/// One character of a formula. Letters of the mathematical alphabets read as the letters they are.
pub(crate) fn character(c: char) -> String {
    if let Some((_, command)) = COMMANDS.iter().find(|(known, _)| *known == c) {
        return (*command).to_owned();
    }
    match c {
        '{' | '}' | '%' | '&' | '#' | '_' | '$' => format!("\\{c}"),
        '\\' => "\\backslash".to_owned(),
        '\u{2061}'..='\u{2064}' => String::new(),
        '\u{1d400}'..='\u{1d7ff}' => plain_letter(c).map_or_else(|| c.to_string(), character_of_alphabet),
        'ℎ' => "h".to_owned(),
        c => c.to_string(),
    }
}

fn character_of_alphabet(plain: char) -> String {
    COMMANDS.iter().find(|(known, _)| *known == plain).map_or_else(|| plain.to_string(), |(_, command)| (*command).to_owned())
}

/// The letter or digit behind a character of the block "Mathematical Alphanumeric Symbols" (U+1D400 to U+1D7FF).
fn plain_letter(c: char) -> Option<char> {
    let offset = (c as u32).checked_sub(0x1d400)?;
    match offset {
        0..=0x2a3 => {
            let place = offset.checked_rem(52)?;
            let (first, place) = if place < 26 { ('A', place) } else { ('a', place.checked_sub(26)?) };
            char::from_u32((first as u32).saturating_add(place))
        }
        0x2a8..=0x3cb => {
            let place = offset.checked_sub(0x2a8)?.checked_rem(58)?;
            match place {
                0..=16 | 18..=24 => char::from_u32(0x391_u32.saturating_add(place)),
                17 => Some('Θ'),
                25 => Some('∇'),
                26..=50 => char::from_u32(0x3b1_u32.saturating_add(place.checked_sub(26)?)),
                51 => Some('∂'),
                52 => Some('ϵ'),
                53 => Some('ϑ'),
                55 => Some('ϕ'),
                _ => None,
            }
        }
        0x3ce..=0x3ff => char::from_u32(0x30_u32.saturating_add(offset.checked_sub(0x3ce)?.checked_rem(10)?)),
        _ => None,
    }
}

/// A function's name as a command.
pub(crate) fn function_name(name: &str) -> String {
    let name = name.trim();
    if FUNCTIONS.contains(&name) {
        return format!("\\{name} ");
    }
    if name.chars().count() > 1 && name.chars().all(|c| c.is_ascii_alphabetic()) {
        return format!("\\operatorname{{{name}}}");
    }
    name.to_owned()
}

/// The command of an accent.
pub(crate) fn accent(mark: char) -> &'static str {
    match mark {
        '\u{300}' | '`' => "\\grave",
        '\u{301}' | '´' => "\\acute",
        '\u{303}' | '~' | '˜' => "\\tilde",
        '\u{304}' | '\u{305}' | '¯' => "\\bar",
        '\u{306}' | '˘' => "\\breve",
        '\u{307}' | '˙' => "\\dot",
        '\u{308}' | '¨' => "\\ddot",
        '\u{30c}' | 'ˇ' => "\\check",
        '\u{20d6}' => "\\overleftarrow",
        '\u{20d7}' | '→' => "\\vec",
        _ => "\\hat",
    }
}
