//! Cuts a line of a scenario into words, pairs and texts.

/// A word, or a key with its value, or a quoted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Text(Vec<u8>),
    Pair(String, Value),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Word(String),
    Text(Vec<u8>),
}

/// Cuts a line into tokens; a `#` outside of quotes begins a comment.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, after) = quoted_text(quoted)?;
            tokens.push(Token::Text(text));
            rest = after;
        } else {
            let end = rest.find([' ', '\t', '=']).unwrap_or(rest.len());
            let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if let Some(value) = after.strip_prefix('=') {
                let (value, after) = self::value(value)?;
                tokens.push(Token::Pair(word.to_owned(), value));
                rest = after;
            } else {
                tokens.push(Token::Word(word.to_owned()));
                rest = after;
            }
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

fn value(rest: &str) -> Result<(Value, &str), String> {
    if let Some(quoted) = rest.strip_prefix('"') {
        return quoted_text(quoted).map(|(text, after)| (Value::Text(text), after));
    }
    let end = rest.find([' ', '\t']).unwrap_or(rest.len());
    let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    Ok((Value::Word(word.to_owned()), after))
}

/// The bytes up to the closing quote, and what follows it.
fn quoted_text(rest: &str) -> Result<(Vec<u8>, &str), String> {
    let mut text = Vec::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((text, rest.get(at + 1..).unwrap_or_default())),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => text.push(b'\n'),
                Some('r') => text.push(b'\r'),
                Some('t') => text.push(b'\t'),
                Some('e') => text.push(0x1b),
                Some(c @ ('"' | '\\')) => text.push(if c == '"' { b'"' } else { b'\\' }),
                Some('x') => {
                    let digits: String = chars.by_ref().take(2).map(|(_, c)| c).collect();
                    text.push(u8::from_str_radix(&digits, 16).map_err(|_| format!("`\\x{digits}` is no byte"))?);
                }
                other => return Err(format!("`\\{}` means nothing", other.map(String::from).unwrap_or_default())),
            },
            c => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err("a quote is not closed".to_owned())
}

pub(super) fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
