//! Integers and strings as the protocol writes them: little-endian, and the length-encoded forms.
//!
//! ```text
//!  lenenc integer   0..=250   1 byte        0xfb  NULL in a text row
//!                   0xfc      2 bytes follow
//!                   0xfd      3 bytes follow
//!                   0xfe      8 bytes follow
//!  lenenc string    lenenc integer, then so many bytes
//! ```

/// The packet ends before the field that was read, or the field is no valid encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Reads fields off the front of a packet. Never reads past the end, never allocates.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(packet: &'a [u8]) -> Reader<'a> {
        Reader { rest: packet }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        let (head, tail) = self.rest.split_at_checked(len).ok_or(Malformed)?;
        self.rest = tail;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(Malformed)?;
        self.rest = tail;
        Ok(*head)
    }

    #[inline]
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    #[inline]
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    #[inline]
    pub fn u24(&mut self) -> Result<u32, Malformed> {
        let [a, b, c] = self.array()?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    #[inline]
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    #[inline]
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length-encoded integer. The bytes 0xfb and 0xff begin none.
    #[inline]
    pub fn lenenc(&mut self) -> Result<u64, Malformed> {
        match self.u8()? {
            n @ 0..=250 => Ok(u64::from(n)),
            0xfc => Ok(u64::from(self.u16()?)),
            0xfd => Ok(u64::from(self.u24()?)),
            0xfe => self.u64(),
            _ => Err(Malformed),
        }
    }

    /// A length-encoded string.
    #[inline]
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let len = self.lenenc()?;
        self.bytes(usize::try_from(len).map_err(|_| Malformed)?)
    }

    /// A string that ends with a zero byte, which is taken too.
    pub fn null_terminated(&mut self) -> Result<&'a [u8], Malformed> {
        let end = self.rest.iter().position(|&b| b == 0).ok_or(Malformed)?;
        let text = self.bytes(end)?;
        self.rest = &self.rest[1..];
        Ok(text)
    }

    /// A string up to a zero byte or the end of the packet.
    pub fn null_terminated_or_rest(&mut self) -> &'a [u8] {
        let mut probe = *self;
        match probe.null_terminated() {
            Ok(text) => {
                *self = probe;
                text
            }
            Err(Malformed) => self.rest(),
        }
    }
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    match n {
        0..=250 => out.push(n as u8),
        251..=0xffff => {
            let [a, b] = (n as u16).to_le_bytes();
            out.extend_from_slice(&[0xfc, a, b]);
        }
        0x1_0000..=0xff_ffff => {
            let [a, b, c, _] = (n as u32).to_le_bytes();
            out.extend_from_slice(&[0xfd, a, b, c]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_integers_have_the_documented_bytes_and_read_back() {
        let cases: &[(u64, &[u8])] = &[
            (0, &[0]),
            (250, &[250]),
            (251, &[0xfc, 251, 0]),
            (0xffff, &[0xfc, 0xff, 0xff]),
            (0x1_0000, &[0xfd, 0, 0, 1]),
            (0xff_ffff, &[0xfd, 0xff, 0xff, 0xff]),
            (0x100_0000, &[0xfe, 0, 0, 0, 1, 0, 0, 0, 0]),
        ];
        for (n, bytes) in cases {
            let mut out = Vec::new();
            put_lenenc(&mut out, *n);
            assert_eq!(&out, bytes);
            let mut reader = Reader::new(&out);
            assert_eq!(reader.lenenc(), Ok(*n));
            assert!(reader.is_empty());
            assert_eq!(Reader::new(&out[..out.len() - 1]).lenenc(), Err(Malformed));
        }
        assert_eq!(Reader::new(&[0xfb]).lenenc(), Err(Malformed));
        assert_eq!(Reader::new(&[0xff]).lenenc(), Err(Malformed));
        // A length that no packet can have is refused, not allocated.
        assert_eq!(Reader::new(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes(), Err(Malformed));
    }
}
