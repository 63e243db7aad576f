//! Class files that are made here, byte by byte, for what no compiler of today writes, or seldom.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod class_file;
mod weaving;

use class_file::{Code, Made, made};
use ristretto_classfile::attributes::{Attribute, Instruction};
use tracer_weave::{
    Access, Kind, Pattern, Place, Rule, Sides,
    weave::{Woven, weave},
};
use weaving::{code_of, reasons, rule, weave_with};

const POINT: Kind = Kind::Marker(Sides::Point);
const REGION: Kind = Kind::Marker(Sides::Region);

const NOP: u8 = 0;
const RETURN: u8 = 177;

#[test]
fn a_method_that_would_be_too_long_is_left_as_it_is() {
    let mut long = vec![NOP; 65_530];
    long.push(RETURN);
    let woven = weave_with(&made(52, &Code { bytes: &long, ..Code::default() }), &[rule(Place::Method, REGION)]);
    assert_eq!(woven.class_file, None);
    assert_eq!(reasons(&woven), ["its code would be longer than the 65,535 bytes that a method may have"]);
}

#[test]
fn a_method_that_would_not_be_compiled_any_more_is_left_as_it_is() {
    for (length, woven) in [(7_985, true), (7_995, false), (8_001, true)] {
        let mut code = vec![NOP; length - 1];
        code.push(RETURN);
        let found = weave_with(&made(52, &Code { bytes: &code, ..Code::default() }), &[rule(Place::Method, REGION)]);
        assert_eq!(found.class_file.is_some(), woven, "{length} {:?}", reasons(&found));
    }
}

#[test]
fn a_branch_that_would_not_reach_is_left_as_it_is() {
    // A loop whose branch back goes 32,766 bytes, and whose body is two blocks.
    let mut code = vec![3, 153, 0, 4];
    code.extend(vec![NOP; 32_762]);
    let back = i16::try_from(code.len()).unwrap();
    code.push(167);
    code.extend((-back).to_be_bytes());
    let woven = weave_with(&made(49, &Code { bytes: &code, ..Code::default() }), &[rule(Place::Block, POINT)]);
    assert_eq!(woven.class_file, None);
    assert_eq!(reasons(&woven), ["a branch would have to go further than 32,767 bytes"]);
}

#[test]
fn a_branch_to_the_first_instruction_does_not_enter_again() {
    // nop; goto 0
    let woven =
        weave_with(&made(49, &Code { bytes: &[NOP, 167, 255, 255], ..Code::default() }), &[rule(Place::Method, POINT)]);
    let (code, _) = code_of(&woven, "run");
    assert!(
        matches!(
            code[..],
            [Instruction::Iconst_1, Instruction::Invokestatic(_), Instruction::Nop, Instruction::Goto(2)]
        ),
        "{code:?}"
    );
}

#[test]
fn subroutines_of_old_classes_come_back_to_where_they_were_called() {
    // 0: jsr 4; 3: return; 4: astore_0; 5: ret 0
    let code = Code { bytes: &[168, 0, 4, RETURN, 75, 169, 0], ..Code::default() };
    let rules = [rule(Place::Method, REGION), rule(Place::Block, POINT)];
    let woven = weave_with(&made(48, &code), &rules);
    let (code, attributes) = code_of(&woven, "run");
    let expected = "Iconst_1 Invokestatic Iconst_2 Invokestatic Jsr Iconst_3 Invokestatic Iconst_1 Invokestatic Return \
         Iconst_4 Invokestatic Astore_0 Ret Iconst_1 Invokestatic Athrow";
    assert_eq!(names(&code), expected.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(code[4], Instruction::Jsr(10)), "{code:?}");
    assert_eq!(attributes, [], "version 48 has no frames");
    // Where subroutines come back to is not in the code: no loops, no lines.
    let woven = weave_with(
        &made(48, &Code { bytes: &[168, 0, 4, RETURN, 75, 169, 0], ..Code::default() }),
        &[rule(Place::Loop, POINT)],
    );
    assert_eq!(reasons(&woven), ["it has subroutines (`jsr`)"]);
}

/// The instructions of a method with a counted region.
fn counted(class: &[u8]) -> String {
    let woven = weave_with(class, &[Rule { counted: true, ..rule(Place::Method, REGION) }]);
    names(&code_of(&woven, "run").0).join(" ")
}

#[test]
fn a_counted_method_that_is_over_at_once_is_told_of_at_its_end() {
    // Array elements may be missing and numbers 0: an exception may leave it all the same.
    let code = Code { bytes: &[1, 3, 46, 3, 108, 87, RETURN], ..Code::default() };
    assert_eq!(
        counted(&made(49, &code)),
        "Aconst_null Iconst_0 Iaload Iconst_0 Idiv Pop Iconst_1 Invokestatic Return Iconst_1 Invokestatic Athrow"
    );
    // Who sends the marks wants to see their order.
    let sent = weave_with(&made(49, &code), &[rule(Place::Method, REGION)]);
    assert!(names(&code_of(&sent, "run").0).join(" ").starts_with("Iconst_1 Invokestatic Aconst_null"));
}

#[test]
fn a_counted_method_keeps_where_it_is_counted() {
    const KEPT: &str = "Iconst_1 Invokestatic Lstore Invokestatic Lload Iconst_1 Invokestatic Return \
         Lload Iconst_1 Invokestatic Athrow";
    let mut class = Made::default();
    let [high, low] = class.callee("a/Other", "call", "()V");
    class.method(0x9, "run", "()V", Some(&Code { bytes: &[184, high, low, RETURN], ..Code::default() }));
    assert_eq!(counted(&class.finish(52)), KEPT.split_whitespace().collect::<Vec<_>>().join(" "));
}

#[test]
fn a_counted_method_that_is_a_loop_keeps_nothing() {
    // nop; goto 0, with a frame at 0: a variable that the entry writes has no value there.
    let attributes: &[(&str, &[u8])] = &[("StackMapTable", &[0, 1, 0])];
    let code = Code { bytes: &[NOP, 167, 255, 255], attributes, ..Code::default() };
    assert_eq!(counted(&made(52, &code)), "Iconst_1 Invokestatic Nop Goto Iconst_1 Invokestatic Athrow");
}

#[test]
fn switches_are_padded_anew_and_branches_moved() {
    // iconst_0; tableswitch 0..=1 (default 28: return, 0: return, 1: the nop before it)
    let mut code = vec![3, 170, 0, 0];
    for number in [28_i32, 0, 1, 28, 27] {
        code.extend(number.to_be_bytes());
    }
    code.extend([NOP; 4]);
    code.extend([NOP, RETURN]);
    let woven = weave_with(&made(49, &Code { bytes: &code, ..Code::default() }), &[rule(Place::Block, POINT)]);
    let (code, _) = code_of(&woven, "run");
    let switch = code.iter().position(|one| matches!(one, Instruction::Tableswitch(_))).unwrap();
    let Instruction::Tableswitch(table) = &code[switch] else { return };
    let target = |offset: i32| format!("{:?}", code[usize::try_from(i32::try_from(switch).unwrap() + offset).unwrap()]);
    assert_eq!((table.low, table.high), (0, 1));
    // Both go to the point before what they went to.
    assert_eq!([target(table.default), target(table.offsets[1])], ["Iconst_4", "Iconst_3"]);
}

#[test]
fn type_annotations_and_tables_of_lines_move_with_the_code() {
    // new at 1; a type annotation of it (0x44), of a variable from 0 to the end, and lines.
    let annotations = [0, 2, 0x44, 0, 1, 0, 0, 1, 0, 0, 0x40, 0, 1, 0, 0, 0, 6, 0, 1, 0, 0, 1, 0, 0];
    let lines = [0, 2, 0, 0, 0, 10, 0, 4, 0, 11];
    let attributes: &[(&str, &[u8])] =
        &[("RuntimeVisibleTypeAnnotations", &annotations), ("LineNumberTable", &lines), ("Unknown", &[1, 2, 3])];
    let code = Code { bytes: &[NOP, 187, 0, 1, 87, RETURN], attributes, ..Code::default() };
    let woven = weave_with(&made(52, &code), &[rule(Place::Method, REGION)]);
    let bytes = woven.class_file.unwrap();
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    // Four bytes enter, four leave.
    assert!(holds(&[0, 2, 0x44, 0, 5, 0, 0, 1, 0, 0, 0x40, 0, 1, 0, 0, 0, 14, 0, 1]));
    assert!(holds(&[0, 2, 0, 0, 0, 10, 0, 8, 0, 11]));
    assert!(holds(&[0, 0, 0, 3, 1, 2, 3]));
    assert_eq!(woven.places[0].line, Some(10));
}

#[test]
fn a_constructor_that_goes_around_another_is_left_as_it_is() {
    let mut class = Made::default();
    let [high, low] = class.callee("java/lang/Object", "<init>", "()V");
    // aload_0; invokespecial twice.
    let twice = [42, 183, high, low, 42, 183, high, low, RETURN];
    class.method(1, "<init>", "()V", Some(&Code { bytes: &twice, ..Code::default() }));
    // iconst_0; ifeq to the return, over the call.
    let around = [3, 153, 0, 7, 42, 183, high, low, RETURN];
    class.method(1, "<init>", "(I)V", Some(&Code { bytes: &around, ..Code::default() }));
    let woven = weave_with(&class.finish(49), &[rule(Place::Method, REGION)]);
    assert_eq!(
        reasons(&woven),
        [
            "it does not call exactly one other constructor of its object",
            "its code goes around the constructor that it calls"
        ]
    );
}

#[test]
fn methods_without_code_are_told_to_who_names_them() {
    let class = || {
        let mut class = Made::default();
        class.method(0x101, "far", "()V", None);
        class.method(0x401, "later", "()V", None);
        class.finish(52)
    };
    assert_eq!(weave_with(&class(), &[rule(Place::Method, REGION)]), Woven::default());
    for (name, reason) in [("far", "native"), ("later", "abstract")] {
        let mut named = rule(Place::Method, REGION);
        named.method = Pattern::new(name);
        assert_eq!(reasons(&weave_with(&class(), &[named])), [reason]);
    }
}

#[test]
fn a_full_constant_pool_leaves_the_class_as_it_is() {
    let mut class = Made::default();
    class.method(0x9, "run", "()V", Some(&Code { bytes: &[RETURN], ..Code::default() }));
    while class.count < 65_525 {
        class.constant(&[&[3, 0, 0, 0, 0]]);
    }
    let woven = weave_with(&class.finish(52), &[rule(Place::Method, REGION)]);
    assert_eq!((woven.class_file.as_ref(), woven.places.len()), (None, 0));
    assert_eq!(reasons(&woven), ["it has no room for more constants"]);
    assert_eq!(woven.skipped[0].method, None);
}

#[test]
fn numbers_of_methods_that_stay_go_to_the_next() {
    let mut class = Made::default();
    let mut long = vec![NOP; 65_534];
    long.push(RETURN);
    class.method(0x9, "long", "()V", Some(&Code { bytes: &long, ..Code::default() }));
    class.method(0x9, "short", "()V", Some(&Code { bytes: &[RETURN], ..Code::default() }));
    let woven = weave_with(&class.finish(52), &[rule(Place::Method, REGION), rule(Place::Method, Kind::Entry)]);
    assert_eq!(woven.places.iter().map(|place| place.id).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(woven.places[0].method, "short");
}

#[test]
fn no_more_numbers_leave_a_method_as_it_is() {
    let class = made(52, &Code { bytes: &[RETURN], ..Code::default() });
    let woven = weave(&class, &[&rule(Place::Method, REGION)], &mut || None).unwrap();
    assert_eq!((woven.class_file.as_ref(), reasons(&woven)), (None, vec!["there are no more numbers for places"]));
}

#[test]
fn versions_that_are_not_known_are_refused() {
    for (version, known) in [(44, false), (45, true), (72, true), (73, false)] {
        let class = made(version, &Code { bytes: &[RETURN], ..Code::default() });
        assert_eq!(weave(&class, &[&rule(Place::Method, POINT)], &mut || Some(1)).is_ok(), known, "{version}");
    }
}

#[test]
fn an_exception_that_leaves_a_region_for_a_handler_passes_a_detour() {
    // 0: invokestatic; 3: return; 4: pop; 5: return; handler 4 for 0 to 3.
    let mut class = Made::default();
    let [high, low] = class.callee("a/Other", "call", "()V");
    let code = Code { bytes: &[184, high, low, RETURN, 87, RETURN], handlers: &[[0, 3, 4]], ..Code::default() };
    class.method(0x9, "run", "()V", Some(&code));
    let place = Place::Call { class: Pattern::new("a.Other"), method: Pattern::new("call") };
    let woven = weave_with(&class.finish(49), &[rule(place, REGION)]);
    let (code, _) = code_of(&woven, "run");
    let expected = "Iconst_1 Invokestatic Invokestatic Iconst_1 Invokestatic Return Pop Return \
         Iconst_1 Invokestatic Athrow Iconst_1 Invokestatic Goto";
    assert_eq!(names(&code), expected.split_whitespace().collect::<Vec<_>>());
    assert!(matches!(code.last(), Some(Instruction::Goto(6))), "{code:?}");
}

#[test]
fn symbols_and_regions_are_for_what_has_them() {
    let class = made(52, &Code { bytes: &[RETURN], ..Code::default() });
    let field = Place::Field { class: Pattern::new("*"), field: Pattern::new("*"), access: Access::Any };
    let woven = weave_with(&class, &[rule(Place::Loop, Kind::Entry), rule(field, REGION), rule(Place::Block, REGION)]);
    let no_region = "blocks, accesses of fields, allocations and exceptions have a point, no region";
    assert_eq!(reasons(&woven), ["symbols are told of whole methods only", no_region, no_region]);
}

#[test]
fn entangled_code_takes_bounded_work() {
    // As many loops as fit, each in all that come before it: iconst_0 for each, then a branch back to each.
    let depth: u16 = 8_000;
    let mut nested = vec![3; usize::from(depth)];
    for level in (0..depth).rev() {
        let at = i32::try_from(nested.len() + 1).unwrap();
        let Ok(back) = i16::try_from(i32::from(level) - at) else { break };
        nested.extend([3, 153]);
        nested.extend(back.to_be_bytes());
    }
    nested.push(RETURN);
    let rules = [rule(Place::Loop, REGION), rule(Place::Loop, POINT)];
    let found = weave_with(&made(49, &Code { bytes: &nested, ..Code::default() }), &rules);
    assert_eq!(found.class_file, None);
    assert_eq!(reasons(&found), ["its loops are too entangled"; 2]);

    // As many handlers as fit, each for all of a long method.
    let mut long = vec![NOP; 60_000];
    long.push(RETURN);
    let found = |rule| {
        let handlers = vec![[0, 60_000, 0]; 65_535];
        weave_with(&made(49, &Code { bytes: &long, handlers: &handlers, ..Code::default() }), &[rule])
    };
    assert_eq!(reasons(&found(rule(Place::Method, REGION))), ["its exception table or its loops are too entangled"]);
    assert_eq!(found(rule(Place::Loop, POINT)).class_file, None);
}

/// Names of the instructions of a method.
fn names(code: &[Instruction]) -> Vec<String> {
    code.iter().map(|one| format!("{one:?}").split('(').next().unwrap().to_owned()).collect()
}

#[test]
fn what_is_entered_first_is_left_last() {
    let other = Rule { marker: 2, ..rule(Place::Method, REGION) };
    // Another pattern of the same marker that means this method as well.
    let again = rule(Place::Method, REGION);
    let rules = [rule(Place::Method, REGION), other, again, rule(Place::Method, Kind::Throw)];
    let woven = weave_with(&made(52, &Code { bytes: &[NOP, RETURN], ..Code::default() }), &rules);
    let (code, attributes) = code_of(&woven, "run");
    let expected = "Iconst_1 Invokestatic Iconst_2 Invokestatic Nop Iconst_2 Invokestatic Iconst_1 Invokestatic Return \
         Iconst_3 Aconst_null Invokestatic Iconst_2 Invokestatic Iconst_1 Invokestatic Athrow";
    assert_eq!(names(&code), expected.split_whitespace().collect::<Vec<_>>());
    // The handler has a frame, and there was none before.
    assert!(
        matches!(&attributes[..], [Attribute::StackMapTable { frames, .. }] if frames.len() == 1),
        "{attributes:?}"
    );
}

#[test]
fn the_receiver_is_told_where_it_is_known() {
    let told = |bytes: &[u8]| {
        let mut class = Made::default();
        class.method(0x1, "run", "()V", Some(&Code { bytes, ..Code::default() }));
        let mut region = rule(Place::Method, REGION);
        region.receiver = true;
        names(&code_of(&weave_with(&class.finish(52), &[region]), "run").0)
    };
    let kept =
        "Iconst_1 Aload_0 Invokestatic Nop Iconst_1 Aload_0 Invokestatic Return Iconst_1 Aload_0 Invokestatic Athrow";
    assert_eq!(told(&[NOP, RETURN]), kept.split_whitespace().collect::<Vec<_>>());
    // aconst_null; astore_0: from then on nobody knows.
    let lost = "Iconst_1 Aload_0 Invokestatic Aconst_null Astore_0 Iconst_1 Aconst_null Invokestatic Return \
         Iconst_1 Aconst_null Invokestatic Athrow";
    assert_eq!(told(&[1, 75, RETURN]), lost.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn code_that_nothing_comes_to_enters_nothing() {
    // return; nop; return, and a frame for the rest that has no local variables: as tools leave dead code.
    let frames = [0, 1, 255, 0, 1, 0, 0, 0, 0];
    let mut class = Made::default();
    let code = Code { bytes: &[RETURN, NOP, RETURN], attributes: &[("StackMapTable", &frames)], ..Code::default() };
    class.method(0x9, "run", "(I)V", Some(&code));
    let mut told = rule(Place::Method, REGION);
    told.arguments = true;
    let (code, _) = code_of(&weave_with(&class.finish(52), &[told]), "run");
    let expected = "Iconst_1 Invokestatic Iconst_1 Iconst_0 Iload I2l Invokestatic Iconst_1 Invokestatic Return \
         Nop Iconst_1 Invokestatic Return Iconst_1 Invokestatic Athrow";
    assert_eq!(names(&code), expected.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn a_bridge_is_no_symbol_of_its_own() {
    let mut class = Made::default();
    let code = Code { bytes: &[1, 176], ..Code::default() };
    class.method(0x1, "next", "()Ljava/lang/Integer;", Some(&code));
    // Public, a bridge, synthetic.
    class.method(0x1041, "next", "()Ljava/lang/Object;", Some(&code));
    let class = class.finish(52);
    let descriptors = |kind: Kind| -> Vec<String> {
        let woven = weave_with(&class, &[rule(Place::Method, kind)]);
        woven.places.into_iter().map(|place| place.descriptor).collect()
    };
    for kind in [Kind::Entry, Kind::Return, Kind::Throw] {
        assert_eq!(descriptors(kind), ["()Ljava/lang/Integer;"]);
    }
    // A marker is wherever it was asked for.
    assert_eq!(descriptors(POINT), ["()Ljava/lang/Integer;", "()Ljava/lang/Object;"]);
}
