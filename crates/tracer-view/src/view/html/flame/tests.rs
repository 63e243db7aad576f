//! What a page's flame graph is made of.

use serde_json::Value;

use super::*;
use crate::view::sample;

/// Numbers as the page reads them.
fn unpacked(packed: &Value) -> Vec<u64> {
    let (mut numbers, mut number, mut shift) = (Vec::new(), 0, 0);
    for digit in packed[1].as_str().unwrap().bytes() {
        let digit = Packed::DIGITS.iter().position(|known| *known == digit).unwrap() as u64;
        number |= (digit & 31) << shift;
        shift += 5;
        if digit < 32 {
            numbers.push(number);
            (number, shift) = (0, 0);
        }
    }
    assert_eq!(packed[0].as_u64(), Some(numbers.len() as u64));
    numbers
}

#[test]
fn numbers_of_any_size_come_back() {
    let numbers = [0, 1, 31, 32, 1023, 1024, 10_101_010, u64::from(u32::MAX), u64::MAX];
    let mut packed = Packed::new("x");
    for number in numbers {
        packed.push(number);
    }
    let value: Value = serde_json::from_str(&format!("{{{}}}", packed.end())).unwrap();
    assert_eq!(unpacked(&value["x"]), numbers);
}

/// The stacks as the page reads them: frames, thread, amount.
fn decode(value: &Value) -> Vec<(Vec<u64>, u64, u64)> {
    let mut numbers = unpacked(&value["stacks"]).into_iter();
    let mut stacks: Vec<(Vec<u64>, u64, u64)> = Vec::new();
    while let Some(kept) = numbers.next() {
        let kept = usize::try_from(kept).unwrap();
        let mut frames = stacks.last().map_or(Vec::new(), |(frames, ..)| frames[..kept].to_vec());
        for _ in 0..numbers.next().unwrap() {
            frames.push(numbers.next().unwrap());
        }
        stacks.push((frames, numbers.next().unwrap(), numbers.next().unwrap()));
    }
    stacks
}

#[test]
fn a_method_has_the_kind_in_which_most_of_it_ran() {
    let profile = sample::profile();
    let symbols = Symbols::new(&profile, Lines::Shown);
    let kinds = kinds(&profile, &symbols);
    let of = |name: &str| kinds[symbols.all().iter().position(|symbol| symbol.label() == name).unwrap()];
    assert_eq!(of("com.shop.Cart.price:42"), Kind::Inlined);
    assert_eq!(of("com.shop.Main.serve:31"), Kind::Interpreted);
    assert_eq!(of("kernel!futex_wait"), Kind::Kernel);
    assert_eq!(of("<class unloaded>"), Kind::Unknown);
}

#[test]
fn steps_go_with_their_stacks() {
    let mut profile = sample::profile();
    let plain: Value = serde_json::from_str(&data(&profile, &[], &CODE).unwrap()).unwrap();
    assert_eq!((plain["step"].as_u64(), unpacked(&plain["steps"]).len()), (Some(0), 0));
    let stacks: Vec<Vec<(u32, u64)>> =
        (0..profile.stacks.len() as u64).map(|at| vec![(1, at + 1), (4, 10 * (at + 1))]).collect();
    profile.steps = Some(crate::report::ProfileSteps { step_ns: 125_000_000, stacks });
    let value: Value = serde_json::from_str(&data(&profile, &[], &CODE).unwrap()).unwrap();
    assert_eq!(value["step"], 125_000_000);
    let numbers = unpacked(&value["steps"]);
    // The second step is three after the first; stacks are sorted, so what belongs together is found by the amount.
    let values: Vec<u64> = decode(&value).iter().map(|(.., value)| *value).collect();
    for (own, value) in numbers.chunks(5).zip(values) {
        let at = profile.stacks.iter().position(|stack| stack.value == value).unwrap() as u64;
        assert_eq!(own, [2, 1, at + 1, 3, 10 * (at + 1)]);
    }
    assert_eq!(numbers.len(), 5 * profile.stacks.len());
}

#[test]
fn data_cannot_leave_its_element() {
    let mut profile = sample::profile();
    profile.threads[0].name = "</script><!-- \u{2028}&amp;".to_owned();
    let data = data(&profile, &[], &CODE).unwrap();
    assert!(!data.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{data}");
    let value: Value = serde_json::from_str(&data).unwrap();
    assert!(value["texts"].as_array().unwrap().contains(&"</script><!-- \\u{2028}&amp;".into()));
}

proptest::proptest! {
    #[test]
    fn stacks_come_back_as_they_were(profile in sample::any_profile()) {
        let value: Value = serde_json::from_str(&data(&profile, &[], &CODE).unwrap()).unwrap();
        let symbols = Symbols::new(&profile, Lines::Shown);
        let thread = |stack: &crate::report::ProfileStack| match profile.thread(stack) {
            Some(_) => u64::from(stack.thread.unwrap()) + 1,
            None => 0,
        };
        let mut stacks: Vec<_> = profile
            .stacks
            .iter()
            .map(|stack| (symbols.stack(stack).map(u64::from).collect::<Vec<_>>(), thread(stack), stack.value))
            .collect();
        stacks.sort();
        let mut read = decode(&value);
        read.sort();
        proptest::prop_assert_eq!(read, stacks);
        proptest::prop_assert_eq!(value["frames"].as_array().unwrap().len(), symbols.all().len() * 5);
    }
}
