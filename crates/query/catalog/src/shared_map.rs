//! A sorted map whose copies share what has not changed, for the lists of names in a [`crate::Version`].
//!
//! Each DDL copies the dictionary and changes one entry of the copy. So the entries stand in chunks that copies share: a copy
//! counts references to the chunks, and a change copies the one chunk that it is in. Of 100,000 tables that is some 800 counts and
//! one chunk of 128 entries.

use std::borrow::Borrow;
use std::sync::Arc;

/// Entries of a chunk at most; half as many are left where one is split.
const CHUNK_MOST: usize = 256;

/// Keys in their order, each once.
#[derive(Debug)]
pub struct SharedMap<K, V> {
    /// None is empty; the keys of each are smaller than those of the next.
    chunks: Vec<Arc<Vec<(K, V)>>>,
    len: usize,
}

impl<K, V> Clone for SharedMap<K, V> {
    fn clone(&self) -> SharedMap<K, V> {
        SharedMap { chunks: self.chunks.clone(), len: self.len }
    }
}

impl<K, V> Default for SharedMap<K, V> {
    fn default() -> SharedMap<K, V> {
        SharedMap { chunks: Vec::new(), len: 0 }
    }
}

impl<K, V> SharedMap<K, V> {
    pub fn new() -> SharedMap<K, V> {
        SharedMap::default()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// In the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> + Clone {
        self.chunks.iter().flat_map(|chunk| chunk.iter().map(|(key, value)| (key, value)))
    }

    pub fn keys(&self) -> impl Iterator<Item = &K> + Clone {
        self.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl Iterator<Item = &V> + Clone {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: Ord + Clone, V: Clone> SharedMap<K, V> {
    /// The chunk that has the key, or that takes it: none where there is no chunk.
    fn chunk_of<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let later = self.chunks.partition_point(|chunk| chunk[0].0.borrow() <= key);
        (!self.chunks.is_empty()).then(|| later.saturating_sub(1))
    }

    /// Chunk and place of a key that is there.
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(usize, usize)>
    where
        K: Borrow<Q>,
    {
        let at = self.chunk_of(key)?;
        let place = self.chunks[at].binary_search_by(|(k, _)| k.borrow().cmp(key)).ok()?;
        Some((at, place))
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).map(|(at, place)| &self.chunks[at][place].1)
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_some()
    }

    /// To be changed: the chunk is this map's own afterwards.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (at, place) = self.find(key)?;
        Some(&mut Arc::make_mut(&mut self.chunks[at])[place].1)
    }

    /// The value of the key, which gets one if it has none.
    pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        if !self.contains_key(key) {
            self.insert(key.clone(), make());
        }
        self.get_mut(key).expect("it is there now")
    }

    /// The value that the key had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let Some(at) = self.chunk_of(&key) else {
            self.chunks.push(Arc::new(vec![(key, value)]));
            self.len = 1;
            return None;
        };
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        match chunk.binary_search_by(|(k, _)| k.cmp(&key)) {
            Ok(place) => return Some(std::mem::replace(&mut chunk[place].1, value)),
            Err(place) => chunk.insert(place, (key, value)),
        }
        self.len += 1;
        if chunk.len() > CHUNK_MOST {
            let upper = chunk.split_off(CHUNK_MOST / 2);
            self.chunks.insert(at + 1, Arc::new(upper));
        }
        None
    }

    /// The value that the key had.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (at, place) = self.find(key)?;
        let chunk = Arc::make_mut(&mut self.chunks[at]);
        let (_, value) = chunk.remove(place);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        } else {
            self.join_small(at);
        }
        Some(value)
    }

    /// Joins a chunk with the next one where both are small, or many removals would leave many chunks of one entry.
    fn join_small(&mut self, at: usize) {
        let at = if at + 1 == self.chunks.len() { at.saturating_sub(1) } else { at };
        let [here, next, ..] = &self.chunks[at..] else { return };
        if here.len() + next.len() <= CHUNK_MOST / 2 {
            let next = self.chunks.remove(at + 1);
            Arc::make_mut(&mut self.chunks[at]).extend(next.iter().cloned());
        }
    }
}

impl<K: Borrow<Q> + Ord + Clone, V: Clone, Q: Ord + ?Sized> std::ops::Index<&Q> for SharedMap<K, V> {
    type Output = V;

    /// Panics where the key is not there.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K: Ord + Clone, V: Clone> FromIterator<(K, V)> for SharedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> SharedMap<K, V> {
        let mut map = SharedMap::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn check(map: &SharedMap<u16, u16>, model: &BTreeMap<u16, u16>) {
        assert!(map.iter().eq(model.iter()));
        assert_eq!(map.len(), model.len());
        assert!(map.chunks.iter().all(|chunk| (1..=CHUNK_MOST).contains(&chunk.len())));
    }

    proptest! {
        /// As a BTreeMap, and copies keep what they had.
        #[test]
        fn copies_are_maps_of_their_own(steps in prop::collection::vec((0..2_000_u16, any::<bool>()), 0..3_000)) {
            let (mut map, mut model) = (SharedMap::new(), BTreeMap::new());
            let mut copies = Vec::new();
            for (i, (key, inserts)) in steps.into_iter().enumerate() {
                let value = i as u16;
                if i % 500 == 0 {
                    copies.push((map.clone(), model.clone()));
                }
                if inserts || i < 1_000 {
                    assert_eq!(map.insert(key, value), model.insert(key, value));
                } else {
                    assert_eq!(map.remove(&key), model.remove(&key));
                }
                assert_eq!(map.get(&key), model.get(&key));
                if let Some(value) = map.get_mut(&(key / 2)) {
                    *value += 1;
                    *model.get_mut(&(key / 2)).expect("in both") += 1;
                }
            }
            check(&map, &model);
            copies.iter().for_each(|(map, model)| check(map, model));
        }
    }

    #[test]
    fn an_emptied_map_has_no_chunks() {
        let mut map: SharedMap<u32, ()> = (0..10_000).map(|key| (key, ())).collect();
        (0..10_000).for_each(|key| assert_eq!(map.remove(&key), Some(())));
        assert!(map.is_empty() && map.chunks.is_empty());
    }

    #[test]
    fn a_change_copies_one_chunk() {
        let map: SharedMap<u32, ()> = (0..10_000).map(|key| (key, ())).collect();
        let mut copy = map.clone();
        copy.remove(&5_000);
        let shared = |chunk: &Arc<_>| map.chunks.iter().any(|own| Arc::ptr_eq(own, chunk));
        assert_eq!(copy.chunks.iter().filter(|chunk| !shared(chunk)).count(), 1);
    }
}
