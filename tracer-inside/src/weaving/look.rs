//! Looks at the classes that are loaded: which there are, which lie below which, and what rules would find there.

use jvmti_bindings::sys::jni::jclass;
use tracer_weave::{
    Place, Rule,
    control::{MAX_NAMED, MAX_NAMES_BYTES, Matched, Running, Told},
    trace,
};

use super::{Weaving, is_never};
use crate::jvm::{Code, Failure, Jni, Jvmti};

/// Classes that are loaded now, with their names.
pub(crate) fn loaded(jvmti: Jvmti) -> Result<Vec<(jclass, String)>, Failure> {
    Ok(jvmti.loaded()?.into_iter().filter_map(|class| Some((class, jvmti.name(class)?))).collect())
}

/// Names of loaded classes.
pub(crate) fn classes(jvmti: Jvmti, jni: Jni) -> Result<Vec<String>, Failure> {
    let loaded = loaded(jvmti)?;
    for (class, _) in &loaded {
        jni.forget(*class);
    }
    let mut room = MAX_NAMES_BYTES;
    let fits = |(_, name): &(jclass, String)| {
        let next = room.checked_sub(name.len());
        room = next.unwrap_or(0);
        next.is_some()
    };
    Ok(loaded.into_iter().take_while(fits).map(|(_, name)| name).collect())
}

/// Finds out which loaded classes lie below those that rules name.
pub(super) fn look_below(weaving: &Weaving, loaded: &[(jclass, String)], jni: Jni) {
    for (class, name) in loaded {
        weaving.below.add_base(&weaving.rules, jni, *class, name);
    }
    for (class, name) in loaded {
        weaving.below.add_below(jni, *class, name);
    }
}

/// How many methods of loaded classes each rule names.
pub(crate) fn matched(jvmti: Jvmti, jni: Jni, rules: Vec<Rule>) -> Result<Told, Failure> {
    let weaving = Weaving::new(rules, &[]);
    let loaded = loaded(jvmti)?;
    look_below(&weaving, &loaded, jni);
    let looping = looping(jvmti, jni, &loaded, &weaving)?;
    let mut counts = vec![Matched::default(); weaving.rules.len()];
    let mut all = 0;
    for (class, name) in &loaded {
        let rules = weaving.rules_of(name);
        for rule in needed(jvmti, *class, name, &weaving) {
            name_one(&mut counts[rule].needed, name);
        }
        if !rules.is_empty() && jvmti.is_prepared(*class) {
            let methods = jvmti.methods(*class)?;
            let is_named = |(method, descriptor): &&(String, String)| {
                rules.iter().any(|rule| rule.is_for_method(name, method, descriptor))
            };
            if jvmti.is_modifiable(*class) {
                all += methods.iter().filter(is_named).count() as u64;
            }
            let codes = jvmti.codes(*class).unwrap_or_default();
            for (rule, count) in weaving.rules.iter().zip(&mut counts) {
                if !rules.iter().any(|one| std::ptr::eq(*one, rule)) {
                    continue;
                }
                let is_meant = |(method, descriptor): &&(String, String)| rule.is_for_method(name, method, descriptor);
                let of = methods.iter().filter(is_meant).count();
                if of > 0 && !jvmti.is_modifiable(*class) {
                    name_one(&mut count.fixed, name);
                } else if of > 0 {
                    count.classes += 1;
                    count.methods += of as u64;
                    let may_be_missed = |code: &&Code| {
                        trace::may_leave_none(code.access, &code.bytecodes) && may_have_place(rule, name, code)
                    };
                    for code in codes.iter().filter(may_be_missed) {
                        count.untraced += 1;
                        name_one(&mut count.untraced_named, &format!("{name}::{}", code.method));
                    }
                }
            }
        }
        jni.forget(*class);
    }
    Ok(Told::Matched { rules: counts, methods: all, looping })
}

/// Methods in which threads go round that began with them, of classes that would be exchanged.
fn looping(jvmti: Jvmti, jni: Jni, loaded: &[(jclass, String)], weaving: &Weaving) -> Result<Vec<Running>, Failure> {
    let may_be_meant = |(class, name): &&(jclass, String)| {
        !weaving.rules_of(name).is_empty() && jvmti.is_prepared(*class) && jvmti.is_modifiable(*class)
    };
    let may_be: Vec<(jclass, String)> = loaded.iter().filter(may_be_meant).cloned().collect();
    let mut looping = jvmti.looping(jni, &may_be)?;
    // Only of these few it is asked what would be woven into them.
    let is_exchanged = |(class, name): &(jclass, String)| {
        let rules = weaving.rules_of(name);
        let is_named =
            |method: &(String, String)| rules.iter().any(|rule| rule.is_for_method(name, &method.0, &method.1));
        jvmti.methods(*class).is_ok_and(|methods| methods.iter().any(is_named))
            && may_have_places(jvmti, *class, name, &rules)
    };
    looping.retain(|of| may_be.iter().any(|known| known.1 == of.class && is_exchanged(known)));
    Ok(looping)
}

/// Whether a method of a class is named by a rule, and can have what the rule is about.
fn may_have_place(rule: &Rule, class: &str, code: &Code) -> bool {
    let may_have = match rule.place {
        Place::Allocation => trace::may_make_objects,
        Place::Exception => trace::may_have_exceptions,
        _ => |_: &[u8]| true,
    };
    rule.is_for_method(class, &code.method, &code.descriptor) && may_have(&code.bytecodes)
}

/// Whether something is to be woven into a class, as far as that can be told before: one in which nothing is need not be exchanged.
pub(super) fn may_have_places(jvmti: Jvmti, class: jclass, name: &str, rules: &[&Rule]) -> bool {
    let may_have_none = |rule: &&Rule| matches!(rule.place, Place::Allocation | Place::Exception);
    if !rules.iter().all(may_have_none) || !jvmti.is_prepared(class) {
        return true;
    }
    let codes = jvmti.codes(class);
    codes.map_or(true, |codes| codes.iter().any(|code| rules.iter().any(|rule| may_have_place(rule, name, code))))
}

fn name_one(named: &mut Vec<String>, class: &str) {
    if named.len() < MAX_NAMED {
        named.push(class.to_owned());
    }
}

/// Rules that name methods of a class that is never woven, by their indices.
pub(super) fn needed(jvmti: Jvmti, class: jclass, name: &str, weaving: &Weaving) -> Vec<usize> {
    let of_class = |(_, rule): &(usize, &Rule)| rule.is_for(name);
    let rules: Vec<(usize, &Rule)> = weaving.rules.iter().enumerate().filter(of_class).collect();
    if rules.is_empty() || !is_never(name) || !jvmti.is_prepared(class) {
        return Vec::new();
    }
    let methods = jvmti.methods(class).unwrap_or_default();
    let has = |rule: &Rule| methods.iter().any(|(method, descriptor)| rule.is_for_method(name, method, descriptor));
    rules.into_iter().filter(|(_, rule)| has(rule)).map(|(index, _)| index).collect()
}
