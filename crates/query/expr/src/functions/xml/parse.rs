//! Fragments of XML as MySQL reads them: no entity is replaced, no white space goes, and only the lengths of the names of a
//! start tag and its end tag are compared.

use std::ops::Range;

/// Elements and attributes that may be open at once, the fragment itself among them.
const LEVELS_MAX: usize = 255;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Tag,
    Attribute,
    Text,
}

/// A node of a fragment.
#[derive(Debug)]
pub struct Node {
    pub kind: Kind,
    /// 0: the fragment itself.
    pub level: usize,
    /// Place of the parent among the nodes. The fragment is its own parent.
    pub parent: usize,
    /// Where the name, or the text, is in the source.
    pub span: Range<usize>,
    /// Where the reader stood when the node was closed: at the `>` of a tag, behind the value of an attribute.
    pub closed: usize,
}

/// A fragment: its nodes in the order of the source, each before what is inside it.
#[derive(Debug)]
pub struct Document {
    pub nodes: Vec<Node>,
}

impl Document {
    /// Nodes inside node `of`, at any depth.
    pub fn inside(&self, of: usize) -> impl Iterator<Item = (usize, &Node)> {
        let level = self.nodes[of].level;
        self.nodes.iter().enumerate().skip(of + 1).take_while(move |(_, n)| n.level > level)
    }

    /// Nodes of the kind right below one.
    pub fn children(&self, of: usize, kind: Kind) -> impl Iterator<Item = (usize, &Node)> {
        self.inside(of).filter(move |(_, n)| n.parent == of && n.kind == kind)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    End,
    Text,
    Name,
    Comment,
    Cdata,
    /// One of `? = / < > !`.
    Sign(u8),
    Unknown,
}

impl Token {
    /// As messages call it.
    fn shown(self) -> &'static str {
        match self {
            Token::End => "END-OF-INPUT",
            Token::Text => "STRING",
            Token::Name => "IDENT",
            Token::Comment => "COMMENT",
            Token::Cdata => "CDATA",
            Token::Sign(b'=') => "'='",
            Token::Sign(b'<') => "'<'",
            Token::Sign(b'>') => "'>'",
            Token::Sign(b'/') => "'/'",
            Token::Sign(b'?') => "'?'",
            Token::Sign(b'!') => "'!'",
            Token::Sign(_) | Token::Unknown => "unknown token",
        }
    }

    fn unexpected<T>(self, wanted: &str) -> Result<T, String> {
        Err(format!("{} unexpected ({wanted} wanted)", self.shown()))
    }
}

struct Reader<'s> {
    source: &'s [u8],
    at: usize,
    nodes: Vec<Node>,
    /// Nodes that are open, outermost first; the fragment is not among them.
    open: Vec<usize>,
}

/// Reads a fragment. An error says what is wrong and where, as warning 1525 has it.
pub fn parse(source: &[u8]) -> Result<Document, String> {
    let whole = Node { kind: Kind::Tag, level: 0, parent: 0, span: 0..0, closed: source.len() };
    let mut reader = Reader { source, at: 0, nodes: vec![whole], open: Vec::new() };
    match reader.fragment() {
        Ok(()) => Ok(Document { nodes: reader.nodes }),
        Err(what) => {
            let read = &source[..reader.at];
            let line = read.iter().filter(|b| **b == b'\n').count() + 1;
            let from = read.iter().rposition(|b| *b == b'\n').unwrap_or(0);
            Err(format!("parse error at line {line} pos {}: {what}", reader.at - from + 1))
        }
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r')
}

fn starts_name(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_' || b == b':' || b >= 0x80
}

fn is_name(b: u8) -> bool {
    starts_name(b) || b.is_ascii_digit() || b == b'-' || b == b'.'
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.source[self.at..]
    }

    /// Moves behind the next `what`, or to the end.
    fn skip_behind(&mut self, what: &[u8]) -> bool {
        let found = self.rest().windows(what.len()).position(|w| w == what);
        self.at = found.map_or(self.source.len(), |i| self.at + i + what.len());
        found.is_some()
    }

    fn scan(&mut self) -> (Token, Range<usize>) {
        self.at += self.rest().iter().take_while(|b| is_space(**b)).count();
        let from = self.at;
        let Some(&first) = self.rest().first() else { return (Token::End, from..from) };
        if self.rest().starts_with(b"<!--") {
            self.skip_behind(b"-->");
            return (Token::Comment, from..self.at);
        }
        if self.rest().starts_with(b"<![CDATA[") {
            self.at += 9;
            return match self.skip_behind(b"]]>") {
                true => (Token::Cdata, from + 9..self.at - 3),
                false => (Token::Unknown, from..self.at),
            };
        }
        match first {
            b'?' | b'=' | b'/' | b'<' | b'>' | b'!' => {
                self.at += 1;
                (Token::Sign(first), from..self.at)
            }
            b'"' | b'\'' => {
                self.at += 1;
                let text = from + 1..self.at + self.rest().iter().take_while(|b| **b != first).count();
                self.at = (text.end + 1).min(self.source.len());
                (Token::Text, text)
            }
            b if starts_name(b) => {
                self.at += self.rest().iter().take_while(|b| is_name(**b)).count();
                (Token::Name, from..self.at)
            }
            _ => (Token::Unknown, from..from),
        }
    }

    fn parent(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    fn enter(&mut self, kind: Kind, span: Range<usize>) -> Result<(), String> {
        if self.open.len() + 1 >= LEVELS_MAX {
            return Err(String::new());
        }
        let node = Node { kind, level: self.open.len() + 1, parent: self.parent(), span, closed: self.at };
        self.open.push(self.nodes.len());
        self.nodes.push(node);
        Ok(())
    }

    fn text(&mut self, span: Range<usize>) {
        let level = self.open.len() + 1;
        self.nodes.push(Node { kind: Kind::Text, level, parent: self.parent(), span, closed: self.at });
    }

    /// Closes the innermost open node. `name`: what the end tag says.
    fn leave(&mut self, name: Option<Range<usize>>) -> Result<(), String> {
        let shown = |span: Range<usize>| {
            String::from_utf8_lossy(&self.source[span.start..span.end.min(span.start + 31)]).into_owned()
        };
        let Some(&node) = self.open.last() else {
            return Err(match name {
                Some(name) => format!("'</{}>' unexpected (END-OF-INPUT wanted)", shown(name)),
                None => "unexpected END-OF-INPUT".to_owned(),
            });
        };
        let open = self.nodes[node].span.clone();
        if let Some(name) = name
            && name.len() != open.len()
        {
            // Of the outermost element MySQL shows the name without its first byte.
            let wanted = if self.open.len() == 1 { open.start + 1..open.end } else { open };
            return Err(format!("'</{}>' unexpected ('</{}>' wanted)", shown(name), shown(wanted)));
        }
        self.open.pop();
        self.nodes[node].closed = self.at;
        Ok(())
    }

    fn fragment(&mut self) -> Result<(), String> {
        while let Some(first) = self.rest().first() {
            if *first == b'<' {
                self.markup()?;
                continue;
            }
            let from = self.at;
            self.at += self.rest().iter().take_while(|b| **b != b'<').count();
            self.text(from..self.at);
        }
        match self.open.is_empty() {
            true => Ok(()),
            false => Err("unexpected END-OF-INPUT".to_owned()),
        }
    }

    /// A comment, a CDATA section, a tag, a processing instruction or a declaration.
    fn markup(&mut self) -> Result<(), String> {
        match self.scan() {
            (Token::Comment, _) => return Ok(()),
            (Token::Cdata, span) => {
                self.text(span);
                return Ok(());
            }
            (Token::Unknown, _) => return Err("unexpected END-OF-INPUT".to_owned()),
            _ => {}
        }
        let (mut token, mut span) = self.scan();
        if token == Token::Sign(b'/') {
            (token, span) = self.scan();
            if token != Token::Name {
                return token.unexpected("ident");
            }
            self.leave(Some(span))?;
            return self.close();
        }
        let form = match token {
            Token::Sign(form @ (b'!' | b'?')) => {
                (token, span) = self.scan();
                Some(form)
            }
            _ => None,
        };
        if token != Token::Name {
            return token.unexpected("ident or '/'");
        }
        self.enter(Kind::Tag, span)?;
        let mut end = self.attributes(form == Some(b'!'))?;
        if end == Token::Sign(b'/') {
            self.leave(None)?;
            end = self.scan().0;
        }
        if form == Some(b'?') {
            if end != Token::Sign(b'?') {
                return end.unexpected("'?'");
            }
            self.leave(None)?;
            end = self.scan().0;
        }
        if form == Some(b'!') {
            self.leave(None)?;
        }
        if end == Token::Sign(b'>') { Ok(()) } else { end.unexpected("'>'") }
    }

    fn close(&mut self) -> Result<(), String> {
        match self.scan().0 {
            Token::Sign(b'>') => Ok(()),
            other => other.unexpected("'>'"),
        }
    }

    /// Attributes up to the first token that is none, which it gives. Strings of a declaration are passed over.
    fn attributes(&mut self, declaration: bool) -> Result<Token, String> {
        loop {
            let (token, name) = self.scan();
            if token != Token::Name && !(token == Token::Text && declaration) {
                return Ok(token);
            }
            match self.scan().0 {
                Token::Sign(b'=') => {
                    let (token, value) = self.scan();
                    if token != Token::Name && token != Token::Text {
                        return token.unexpected("ident or string");
                    }
                    self.enter(Kind::Attribute, name)?;
                    self.text(value);
                    self.leave(None)?;
                }
                // Two names: the first is an attribute without a value, the second is lost.
                Token::Name => {
                    self.enter(Kind::Attribute, name)?;
                    self.leave(None)?;
                }
                Token::Text if declaration => {}
                other => return Ok(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_where_the_source_has_them() {
        let source = b"<a k=\"1\"><b/>x</a>";
        let document = parse(source).unwrap();
        let shown: Vec<_> = document.nodes[1..].iter().map(|n| (n.kind, n.level, &source[n.span.clone()])).collect();
        let wanted: [(Kind, usize, &[u8]); 5] = [
            (Kind::Tag, 1, b"a"),
            (Kind::Attribute, 2, b"k"),
            (Kind::Text, 3, b"1"),
            (Kind::Tag, 2, b"b"),
            (Kind::Text, 2, b"x"),
        ];
        assert_eq!(shown, wanted);
        assert_eq!(document.children(1, Kind::Tag).count(), 1);
        assert_eq!(document.inside(0).count(), 5);
    }

    #[test]
    fn what_is_cut_off_anywhere_is_refused() {
        let source = b"<?p q=\"1\"?><a><![CDATA[x]]><b c='d'>e</b></a>";
        assert!(parse(source).is_ok());
        for end in 1..source.len() {
            // Behind the processing instruction it is whole.
            assert_eq!(parse(&source[..end]).is_ok(), end == 11, "{}", source[..end].escape_ascii());
        }
        assert!(parse(b"<?a/?>").is_err());
    }
}
