//! The native format, written down a second time: to change a snapshot with intent.

use crate::common::Rng;

/// Bytes with the checksum that fits.
pub fn sealed(body: &[u8]) -> Vec<u8> {
    let sum = xxhash_rust::xxh3::xxh3_64(body);
    [body, &sum.to_le_bytes()].concat()
}

/// The names of components in another version than this one, in a snapshot whose schema is sound.
pub fn unknown_versions(whole: &[u8], known: u32) -> Vec<String> {
    let mut from = Reader(whole);
    // Magic, format, kind.
    from.take(16);
    let count = from.u32();
    let entries = (0..count).map(|_| Entry::read(&mut from));
    let unknown = entries.filter(|entry| entry.what == 0 && entry.version != known);
    unknown.map(|entry| String::from_utf8(entry.name).unwrap()).collect()
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub what: u8,
    pub name: Vec<u8>,
    pub version: u32,
    pub form: u8,
    pub size: u32,
}

impl Entry {
    fn read(from: &mut Reader<'_>) -> Self {
        let what = from.u8();
        let length = u16::from_le_bytes(from.take(2).try_into().unwrap());
        let name = from.take(length.into()).to_vec();
        Self { what, name, version: from.u32(), form: from.u8(), size: from.u32() }
    }
}

#[derive(Debug, Clone)]
pub struct Column {
    pub count: u64,
    pub kind: u8,
    pub earlier: u32,
    pub ids: Vec<u64>,
    /// The length that is written before the values.
    pub length: u64,
    pub values: Vec<u8>,
}

/// A whole snapshot, taken apart.
#[derive(Debug, Clone)]
pub struct Parts {
    pub magic: [u8; 8],
    pub format: u32,
    pub kind: u32,
    pub schema_count: u32,
    pub schema: Vec<Entry>,
    /// Range, fixed, last version, head of the free list.
    pub book: [u32; 5],
    pub slot_count: u64,
    pub slots: Vec<u64>,
    pub far_count: u64,
    pub far: Vec<(u32, u64)>,
    pub demanded_count: u64,
    pub demanded: Vec<(u32, u8, u32, u32)>,
    /// Keys of streams, and how many ids they need.
    pub habit_count: u64,
    pub habits: Vec<(u64, u32)>,
    pub columns: Vec<Column>,
    /// Lengths and values.
    pub singles: Vec<(u64, Vec<u8>)>,
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    fn u8(&mut self) -> u8 {
        self.take(1)[0]
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }
}

impl Parts {
    /// Of a snapshot of everything, which is sound.
    pub fn read(whole: &[u8]) -> Self {
        let mut from = Reader(&whole[..whole.len() - 8]);
        let magic = from.take(8).try_into().unwrap();
        let [format, kind, schema_count] = [from.u32(), from.u32(), from.u32()];
        assert_eq!(kind, 0);
        let schema: Vec<Entry> = (0..schema_count).map(|_| Entry::read(&mut from)).collect();
        let book = [(); 5].map(|()| from.u32());
        let slot_count = from.u64();
        let slots = (0..slot_count).map(|_| from.u64()).collect();
        let far_count = from.u64();
        let far = (0..far_count).map(|_| (from.u32(), from.u64())).collect();
        let demanded_count = from.u64();
        let demanded =
            (0..demanded_count).map(|_| (from.u32(), from.u8(), from.u32(), from.u32())).collect();
        let habit_count = from.u64();
        let habits = (0..habit_count).map(|_| (from.u64(), from.u32())).collect();
        let components = schema.iter().filter(|entry| entry.what == 0);
        let columns = components.map(|_| {
            let (count, kind) = (from.u64(), from.u8());
            let earlier = if kind == 2 { from.u32() } else { 0 };
            let ids = if kind == 0 { (0..count).map(|_| from.u64()).collect() } else { vec![] };
            let length = from.u64();
            let values = from.take(length as usize).to_vec();
            Column { count, kind, earlier, ids, length, values }
        });
        let columns = columns.collect();
        let resources = schema.iter().filter(|entry| entry.what == 1);
        let singles = resources.map(|_| {
            let length = from.u64();
            (length, from.take(length as usize).to_vec())
        });
        let singles = singles.collect();
        assert!(from.0.is_empty());
        Self {
            magic,
            format,
            kind,
            schema_count,
            schema,
            book,
            slot_count,
            slots,
            far_count,
            far,
            demanded_count,
            demanded,
            habit_count,
            habits,
            columns,
            singles,
        }
    }

    /// The bytes, with a checksum that fits.
    pub fn write(&self) -> Vec<u8> {
        let mut to = self.magic.to_vec();
        let numbers = [self.format, self.kind, self.schema_count];
        to.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
        for entry in &self.schema {
            to.push(entry.what);
            to.extend((entry.name.len() as u16).to_le_bytes());
            to.extend(&entry.name);
            to.extend(entry.version.to_le_bytes());
            to.push(entry.form);
            to.extend(entry.size.to_le_bytes());
        }
        to.extend(self.book.iter().flat_map(|n| n.to_le_bytes()));
        to.extend(self.slot_count.to_le_bytes());
        to.extend(self.slots.iter().flat_map(|n| n.to_le_bytes()));
        to.extend(self.far_count.to_le_bytes());
        for (index, slot) in &self.far {
            to.extend(index.to_le_bytes());
            to.extend(slot.to_le_bytes());
        }
        to.extend(self.demanded_count.to_le_bytes());
        for (index, is_threaded, link, floor) in &self.demanded {
            to.extend(index.to_le_bytes());
            to.push(*is_threaded);
            to.extend(link.to_le_bytes());
            to.extend(floor.to_le_bytes());
        }
        to.extend(self.habit_count.to_le_bytes());
        for (key, habit) in &self.habits {
            to.extend(key.to_le_bytes());
            to.extend(habit.to_le_bytes());
        }
        for column in &self.columns {
            to.extend(column.count.to_le_bytes());
            to.push(column.kind);
            if column.kind == 2 {
                to.extend(column.earlier.to_le_bytes());
            }
            to.extend(column.ids.iter().flat_map(|n| n.to_le_bytes()));
            to.extend(column.length.to_le_bytes());
            to.extend(&column.values);
        }
        for (length, value) in &self.singles {
            to.extend(length.to_le_bytes());
            to.extend(value);
        }
        sealed(&to)
    }

    /// Says something that is not so.
    pub fn lie(&mut self, rng: &mut Rng) {
        let big = |rng: &mut Rng| {
            let near = rng.next() % 64;
            rng.pick(&[0, 1, near, 1 << 20, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 62, u64::MAX])
        };
        let some_id = |parts: &Self, rng: &mut Rng| match rng.below(6) {
            // Another one, a later version, a dead one, a huge one, the null id.
            0 if !parts.slots.is_empty() => parts.slots[rng.below(parts.slots.len())],
            1 if !parts.slots.is_empty() => {
                parts.slots[rng.below(parts.slots.len())].wrapping_add(1 << 32)
            }
            2 => u64::MAX,
            3 => rng.next(),
            4 => u64::from(u32::MAX) << (32 * rng.below(2)),
            _ => rng.next() % 400,
        };
        match rng.below(24) {
            22.. => self.lie_about_book(rng),
            0 => self.kind = big(rng) as u32,
            1 => self.schema_count = big(rng) as u32,
            2..6 => self.lie_about_schema(rng),
            6 => self.book[rng.below(5)] = big(rng) as u32,
            7 => self.slot_count = big(rng),
            8 if !self.slots.is_empty() => {
                // A loop or a jump in the free list, a slot that lives or dies.
                let (at, from) = (rng.below(self.slots.len()), rng.below(self.slots.len()));
                self.slots[at] = match rng.below(4) {
                    0 => self.slots[from],
                    1 => self.slots[at] ^ 1 << rng.below(64),
                    // The first version once more.
                    2 => u64::from(self.slots[at] as u32),
                    _ => big(rng),
                };
            }
            9 if !self.slots.is_empty() => self.slots.rotate_left(1),
            10 => {
                self.far_count = big(rng);
                if rng.one_in(2) {
                    self.far.push((big(rng) as u32, some_id(self, rng)));
                    self.far_count = self.far.len() as u64;
                }
            }
            11 => {
                let index = rng.index_below(100);
                let entry = (index, rng.below(3) as u8, big(rng) as u32, big(rng) as u32);
                self.demanded.push(entry);
                self.demanded_count = self.demanded.len() as u64;
            }
            13 if rng.below(2) == 0 => {
                self.habits.push((rng.below(3) as u64, big(rng) as u32));
                self.habit_count = self.habits.len() as u64 + rng.below(2) as u64;
            }
            12 if !self.demanded.is_empty() => {
                let at = rng.below(self.demanded.len());
                match rng.below(4) {
                    0 => self.demanded[at].0 = big(rng) as u32,
                    1 => self.demanded[at].1 ^= 1,
                    2 => self.demanded[at].2 = big(rng) as u32,
                    _ => self.demanded[at].3 = big(rng) as u32,
                }
            }
            13 if !self.singles.is_empty() => {
                let at = rng.below(self.singles.len());
                self.singles[at].0 = big(rng);
            }
            _ if !self.columns.is_empty() => {
                let at = rng.below(self.columns.len());
                let id = some_id(self, rng);
                let column = &mut self.columns[at];
                match rng.below(9) {
                    0 => column.count = big(rng),
                    1 => column.length = big(rng),
                    2 => column.kind = rng.below(4) as u8,
                    3 => {
                        (column.kind, column.earlier) = (2, rng.below(12) as u32);
                        column.ids.clear();
                    }
                    4 => {
                        column.kind = 1;
                        column.ids.clear();
                    }
                    5 if column.ids.len() > 1 => column.ids[0] = column.ids[1],
                    6 if !column.ids.is_empty() => {
                        column.ids.pop();
                        column.count = column.count.wrapping_sub(1);
                    }
                    7 if !column.values.is_empty() => {
                        let at = rng.below(column.values.len());
                        column.values[at] = rng.next() as u8;
                    }
                    _ if !column.ids.is_empty() => {
                        let at = rng.below(column.ids.len());
                        column.ids[at] = id;
                    }
                    _ => column.count = column.count.wrapping_add(1),
                }
            }
            _ => self.format = big(rng) as u32,
        }
    }

    /// Says something about ids that is not so, with counts that fit.
    pub fn lie_about_book(&mut self, rng: &mut Rng) {
        let number = |parts: &Self, rng: &mut Rng| {
            let near = rng.below(parts.slots.len() + 2) as u32;
            rng.pick(&[0, 1, near, near, near, 300, 90_000, u32::MAX - 1, u32::MAX])
        };
        let slot = |parts: &Self, rng: &mut Rng| {
            let version = rng.pick(&[0, 0, 1, 2, 3, u32::MAX - 1, u32::MAX]);
            u64::from(version) << 32 | u64::from(number(parts, rng))
        };
        match rng.below(8) {
            0 => self.book[rng.pick(&[0, 1, 3, 4])] = number(self, rng),
            1..4 if !self.slots.is_empty() => {
                let at = rng.below(self.slots.len());
                self.slots[at] = slot(self, rng);
            }
            4 if !self.slots.is_empty() => {
                // A slot out of the list, and one into it.
                let (at, from) = (rng.below(self.slots.len()), rng.below(self.slots.len()));
                let head = self.book[4];
                self.book[4] = self.book[0].wrapping_add(at as u32 + 1);
                self.slots[at] = self.slots[from] >> 32 << 32 | u64::from(head);
            }
            5 => {
                let index = number(self, rng);
                let bits = match rng.below(3) {
                    0 => slot(self, rng),
                    // Alive, and dead.
                    1 => slot(self, rng) >> 32 << 32 | (u64::from(index) + 1),
                    _ => slot(self, rng) >> 32 << 32,
                };
                self.far.push((index, bits));
            }
            6 => {
                let is_threaded = rng.below(2) as u8;
                let link = u32::from(is_threaded) * number(self, rng);
                self.demanded.push((number(self, rng), is_threaded, link, number(self, rng)));
            }
            _ => self.habits.push((rng.below(3) as u64, number(self, rng))),
        }
        self.slot_count = self.slots.len() as u64;
        self.far_count = self.far.len() as u64;
        self.demanded_count = self.demanded.len() as u64;
        self.habit_count = self.habits.len() as u64;
    }

    fn lie_about_schema(&mut self, rng: &mut Rng) {
        if self.schema.is_empty() {
            return;
        }
        let at = rng.below(self.schema.len());
        let other = rng.below(self.schema.len());
        match rng.below(7) {
            0 => self.schema[at].name = self.schema[other].name.clone(),
            1 => self.schema[at].name = b"a name that nobody knows".to_vec(),
            2 => self.schema[at].name = vec![0xC3, 0x28],
            3 => self.schema[at].version = rng.index_below(5),
            4 => self.schema[at].form ^= 1,
            5 => self.schema[at].size = rng.pick(&[0, 1, 5, 6, 7, 16, u32::MAX]),
            _ => self.schema[at].what ^= 1,
        }
    }
}
