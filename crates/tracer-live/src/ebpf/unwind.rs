//! Tells the programs what they need to unwind a target, and counts why stacks ended.

use aya::{
    Ebpf,
    maps::{Array, HashMap, MapData, PerCpuArray},
};
use tracer_common::{
    names::{MAP_CODE, MAP_ENDS, MAP_GENERATION, MAP_HURRY, MAP_REGIONS, MAP_ROWS, MAP_STACKS},
    stack::StackEnd,
    unwind::{CHUNK_ROWS, CodeLayout, MAX_REGIONS, Region, Row, Rule},
};

use super::{
    Error,
    bpf_object::{map_error, take},
    wire::{CodeValue, RegionValue, RowsValue},
};

/// Room for rows of files that the target maps later, besides those that it has.
const SPARE_ROWS: usize = 1 << 18;

/// Values that the map of rows needs for this many rows and some more.
pub(super) fn chunks(rows: usize) -> u32 {
    u32::try_from((rows + SPARE_ROWS).div_ceil(CHUNK_ROWS)).unwrap_or(u32::MAX)
}

/// The maps of the unwinder.
pub struct Unwinding {
    code: Array<MapData, CodeValue>,
    generation: Array<MapData, u64>,
    hurry: Array<MapData, u64>,
    regions: Array<MapData, RegionValue>,
    rows: Array<MapData, RowsValue>,
    ends: PerCpuArray<MapData, u64>,
    stacks: HashMap<MapData, u64, u8>,
    /// Program counters that a CPU has room to remember.
    places: u32,
}

impl Unwinding {
    pub(super) fn take(ebpf: &mut Ebpf, places: u32) -> Result<Self, Error> {
        Ok(Self {
            places,
            code: Array::try_from(take(ebpf, MAP_CODE)?).map_err(|error| map_error(MAP_CODE, &error))?,
            generation: Array::try_from(take(ebpf, MAP_GENERATION)?)
                .map_err(|error| map_error(MAP_GENERATION, &error))?,
            hurry: Array::try_from(take(ebpf, MAP_HURRY)?).map_err(|error| map_error(MAP_HURRY, &error))?,
            regions: Array::try_from(take(ebpf, MAP_REGIONS)?).map_err(|error| map_error(MAP_REGIONS, &error))?,
            rows: Array::try_from(take(ebpf, MAP_ROWS)?).map_err(|error| map_error(MAP_ROWS, &error))?,
            ends: PerCpuArray::try_from(take(ebpf, MAP_ENDS)?).map_err(|error| map_error(MAP_ENDS, &error))?,
            stacks: HashMap::try_from(take(ebpf, MAP_STACKS)?).map_err(|error| map_error(MAP_STACKS, &error))?,
        })
    }

    /// Writes the rows from `first` on. Rows that found no room are left out, and their number is given.
    pub fn set_rows(&mut self, rows: &[Row], first: usize) -> Result<usize, Error> {
        let capacity = usize::try_from(self.rows.len()).unwrap_or(usize::MAX).saturating_mul(CHUNK_ROWS);
        let start = first / CHUNK_ROWS;
        for (index, chunk) in rows.chunks(CHUNK_ROWS).enumerate().skip(start) {
            if (index + 1) * CHUNK_ROWS > capacity {
                return Ok(rows.len().saturating_sub(index * CHUNK_ROWS));
            }
            let mut value = RowsValue([Row { address: u32::MAX, rule: Rule::NONE }; CHUNK_ROWS]);
            for (to, from) in value.0.iter_mut().zip(chunk) {
                *to = *from;
            }
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.rows.set(index, value, 0).map_err(|error| map_error(MAP_ROWS, &error))?;
        }
        Ok(0)
    }

    /// Says where the target's code lies and how its structures are laid out; what was remembered is forgotten.
    ///
    /// `regions` are sorted by their starts. A walk that is under way may see some of the old and some of the new ones,
    /// and then ends earlier than it could.
    pub fn set_code(&mut self, layout: CodeLayout, regions: &[Region]) -> Result<(), Error> {
        let regions = regions.get(..MAX_REGIONS).unwrap_or(regions);
        for (index, region) in regions.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            self.regions.set(index, RegionValue(*region), 0).map_err(|error| map_error(MAP_REGIONS, &error))?;
        }
        let regions = u32::try_from(regions.len()).unwrap_or(u32::MAX);
        let layout = CodeLayout { regions, places: self.places, ..layout };
        self.code.set(0, CodeValue(layout), 0).map_err(|error| map_error(MAP_CODE, &error))?;
        // Where nobody says that code goes away, it may do so at any moment.
        let hurry = if layout.remember == 0 { u64::MAX } else { 0 };
        self.hurry.set(0, hurry, 0).map_err(|error| map_error(MAP_HURRY, &error))?;
        let generation = self.generation.get(&0, 0).map_err(|error| map_error(MAP_GENERATION, &error))?;
        // Far above what the programs add one by one, so that neither hides the other's change.
        self.generation.set(0, generation.wrapping_add(1 << 32), 0).map_err(|error| map_error(MAP_GENERATION, &error))
    }

    /// A stack that is met again is sent again.
    pub fn forget_stack(&mut self, stack: u64) {
        // The programs may have forgotten it themselves.
        let _: Result<(), _> = self.stacks.remove(&stack);
    }

    /// How often stacks ended for each reason, in the order of [`StackEnd::ALL`].
    pub fn ends(&self) -> Result<Vec<u64>, Error> {
        StackEnd::ALL.iter().map(|end| self.ends_of(*end)).collect()
    }

    /// How often stacks ended for one reason.
    pub fn ends_of(&self, end: StackEnd) -> Result<u64, Error> {
        let values = self.ends.get(&u32::from(end as u8), 0).map_err(|error| map_error(MAP_ENDS, &error))?;
        Ok(values.iter().sum())
    }
}
