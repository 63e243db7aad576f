//! What is written, read by a reader of its own, and compared with the report of the same session.

mod reader;

use self::reader::{Chunk, Value, read};
use super::{
    schema::{self, EVENTS},
    *,
};
use crate::{
    report::Report,
    source::scenario::{START_NS, START_WALL_MS, Scenario},
};

/// Plays a scenario into a file; gives its report as well.
#[track_caller]
fn written(text: &str) -> (Vec<u8>, Report) {
    let scenario = Scenario::parse(text).unwrap_or_else(|error| panic!("{error}"));
    super::written(|sink| scenario.play(sink))
}

#[track_caller]
fn one_chunk(text: &str) -> (Chunk, Report) {
    let (file, report) = written(text);
    let mut chunks = read(&file);
    assert_eq!(chunks.len(), 1);
    (chunks.remove(0), report)
}

/// The only event of a type.
#[track_caller]
fn only<'a>(chunk: &'a Chunk, name: &'a str) -> &'a Value {
    let mut events = chunk.of(name);
    let event = events.next().unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(events.next(), None, "one {name}");
    event
}

const MS: i64 = 1_000_000;

fn ms(of: i64) -> i64 {
    START_NS.cast_signed() + of * MS
}

#[test]
fn types_stand_in_the_order_of_their_numbers() {
    for (event, number) in EVENTS.iter().zip(Type::ExecutionSample.id()..) {
        assert_eq!(event.of.id(), number, "{}", event.name);
        assert_eq!(event.of.event().name, event.name);
    }
    assert_eq!(EVENTS.last().map(|event| event.of), Some(Type::FileWrite), "all have their place");
}

#[test]
fn times_of_the_header_are_those_of_the_session() {
    let (chunk, _) = one_chunk("target pid=42 command=\"a.Main\" uptime_s=10\nend +1500ms duration\n");
    let Chunk { wall_ns, duration_ns, start_ns, .. } = chunk;
    assert_eq!([wall_ns, duration_ns, start_ns], [START_WALL_MS * 1_000_000, 1_500_000_000, START_NS]);
    let jvm = only(&chunk, "jdk.JVMInformation");
    assert_eq!((jvm.text("javaArguments"), jvm.number("pid"), jvm.get("jvmArguments")), ("a.Main", 42, &Value::Null));
    assert_eq!(jvm.text("jvmVersion"), "");
    assert_eq!(jvm.number("jvmStartTime"), START_WALL_MS.cast_signed() - 10_000);
    assert_eq!(chunk.categories["jdk.SafepointBegin"], ["Java Virtual Machine", "Runtime", "Safepoint"]);
}

/// The reader of async-profiler knows these by their places, and how a frame runs by its number.
#[test]
fn what_events_refer_to_has_the_jdks_fields_in_its_order() {
    let fields = |of: Type| {
        let pooled = schema::POOLED.iter().find(|(one, ..)| *one == of).map(|(.., fields)| *fields);
        let fields = pooled.unwrap_or(schema::STACK_FRAME.2);
        fields.iter().map(|field| field.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(fields(Type::Class), "classLoader name package modifiers hidden");
    assert_eq!(fields(Type::Method), "type name descriptor modifiers hidden");
    assert_eq!(fields(Type::Thread), "osName osThreadId javaName javaThreadId");
    assert_eq!(fields(Type::StackTrace), "truncated frames");
    assert_eq!(fields(Type::StackFrame), "method lineNumber bytecodeIndex type");
    let (chunk, _) = one_chunk(
        "thread 21 \"worker\"\nlenses cpu\nstack all \"libc.so.6 f\" \"a.B.c:1\" \"inlined a.B.d:2\" \"interpreted a.B.e:3\" \
         \"kernel g\"\n+10ms tid 21 cpu_sample period=10ms stack=all\nend +1s duration\n",
    );
    let kinds: Vec<_> = chunk.frame_types.iter().map(|(id, name)| format!("{id} {name}")).collect();
    assert_eq!(kinds, ["0 Interpreted", "1 JIT compiled", "2 Inlined", "3 Native", "4 Stub", "5 Kernel"]);
    let frames = only(&chunk, "jdk.ExecutionSample").frames();
    let ran: Vec<_> = frames.iter().map(|frame| frame.rsplit_once(' ').map_or("", |(kind, _)| kind)).collect();
    assert_eq!(ran, ["Kernel", "Interpreted", "Inlined", "JIT compiled", "Native"]);
}

/// Pyroscope's reader looks for them before it reads a file.
#[test]
fn types_of_all_numbers_are_declared_as_the_jdk_declares_them() {
    let (chunk, _) = one_chunk("target pid=42 command=\"a.Main\" uptime_s=10\nend +1s duration\n");
    for name in ["boolean", "byte", "char", "double", "float", "int", "long", "short", "java.lang.String"] {
        assert!(chunk.categories.contains_key(name), "no {name} among {:?}", chunk.categories.keys());
    }
}

#[test]
fn versions_are_said_as_the_jdk_says_them() {
    let (chunk, _) =
        one_chunk("target jvm_name=\"OpenJDK 64-Bit Server VM\" jvm_version=17.0.15+6\nend +1s duration\n");
    let version = "OpenJDK 64-Bit Server VM (17.0.15+6) for linux JRE (17.0.15+6)";
    assert_eq!(only(&chunk, "jdk.JVMInformation").text("jvmVersion"), version);
}

#[test]
fn samples_have_whole_stacks_and_other_events_those_of_java() {
    let (chunk, _) = one_chunk(
        "thread 21 \"worker\"\nlenses cpu,locks\n\
         stack price \"libc.so.6 start_thread\" \"java.lang.Thread.run:840\" \"inlined a.Cart.price:42\" \"kernel page_fault\"\n\
         +10ms tid 21 cpu_sample period=10ms stack=price\n\
         +20ms tid 21 park_begin time=7000000 stack=price\n+50ms tid 21 park_end\n\
         +60ms tid 21 park_begin absolute=true time=99\n+61ms tid 21 park_end\nend +1s duration\n",
    );
    let sample = only(&chunk, "jdk.ExecutionSample");
    assert_eq!((sample.number("startTime"), sample.text("state")), (ms(10), "STATE_RUNNABLE"));
    assert_eq!((sample.text("sampledThread.osName"), sample.number("sampledThread.osThreadId")), ("worker", 21));
    assert_eq!(
        sample.frames(),
        [
            "Kernel kernel.page_fault:-1",
            "Inlined a/Cart.price:42",
            "JIT compiled java/lang/Thread.run:840",
            "Native libc.so.6.start_thread:-1",
        ]
    );
    let Value::List(frames) = sample.get("stackTrace.frames") else { panic!("frames") };
    assert_eq!(frames[1].text("method.type.package.name"), "a");
    let parks: Vec<&Value> = chunk.of("jdk.ThreadPark").collect();
    assert_eq!(parks[0].frames(), ["Inlined a/Cart.price:42", "JIT compiled java/lang/Thread.run:840"]);
    assert_eq!((parks[0].number("startTime"), parks[0].number("duration")), (ms(20), 30 * MS));
    let limits = |park: &Value| [park.number("timeout"), park.number("until")];
    assert_eq!((limits(parks[0]), limits(parks[1])), ([7 * MS, i64::MIN], [i64::MIN, 99]));
    assert_eq!(parks[1].get("stackTrace"), &Value::Null, "none was taken");
}

#[test]
fn monitors_name_their_class_and_who_held_them() {
    let (chunk, _) = one_chunk(
        "thread 21 \"first\"\nthread 22 \"second\"\nlenses locks\n\
         +1ms tid 22 contended_enter monitor=0xaa class=\"a/Account\" holder=21\n+2ms tid 21 notify monitor=0xaa class=\"[B\"\n\
         +4ms tid 22 contended_entered monitor=0xaa class=\"a/Account\"\n\
         +5ms tid 22 wait monitor=0xaa class=\"a/Account\" timeout_ms=50\n+9ms tid 22 waited monitor=0xaa class=\"a/Account\"\n\
         +10ms tid 21 contended_enter monitor=0xbb class=\"a/Account\"\nend +1s duration\n",
    );
    let enter = only(&chunk, "jdk.JavaMonitorEnter");
    assert_eq!([enter.number("startTime"), enter.number("duration"), enter.number("address")], [ms(1), 3 * MS, 0xaa]);
    let names = ["eventThread.osName", "previousOwner.osName", "monitorClass.name"].map(|path| enter.text(path));
    assert_eq!(names, ["second", "first", "a/Account"]);
    let wait = only(&chunk, "jdk.JavaMonitorWait");
    assert_eq!([wait.number("duration"), wait.number("timeout")], [4 * MS, 50]);
    assert_eq!(only(&chunk, "jdk.JavaMonitorNotify").text("monitorClass.name"), "[B");
}

#[test]
fn a_collection_is_a_pause_an_operation_and_a_safepoint() {
    let (chunk, _) = one_chunk(
        "target collector=G1\nthread 5 \"VM Thread\"\nlenses gc,safepoint\n\
         +1ms tid 5 safepoint_begin\n+2ms tid 5 vm_operation_begin name=\"G1CollectFull\"\n\
         +2ms tid 5 gc_begin full=true cause=\"System.gc()\"\n\
         +2ms tid 5 pool_begin manager=\"G1\" pool=\"G1 Old Gen\" used=900\n\
         +2ms tid 5 pool_begin manager=\"G1\" pool=\"G1 Eden Space\" used=100\n\
         +2ms tid 5 pool_begin manager=\"G1\" pool=\"Metaspace\" used=5\n\
         +7ms tid 5 pool_end manager=\"G1\" pool=\"G1 Old Gen\" used=400\n\
         +9ms tid 5 gc_end last_cause=\"System.gc()\"\n+9ms tid 5 vm_operation_end name=\"G1CollectFull\"\n\
         +10ms tid 5 safepoint_end\n\
         +20ms tid 5 vm_operation_begin name=\"G1PauseRemark\"\n+20ms tid 5 gc_begin\n+21ms tid 5 gc_end\n\
         +22ms tid 5 vm_operation_end name=\"G1PauseRemark\"\nend +1s duration\n",
    );
    let collection = only(&chunk, "jdk.GarbageCollection");
    assert_eq!((collection.text("name"), collection.text("cause")), ("G1Full", "System.gc()"));
    assert_eq!(["gcId", "duration", "longestPause"].map(|path| collection.number(path)), [1, 7 * MS, 7 * MS]);
    assert_eq!(only(&chunk, "jdk.OldGarbageCollection").number("gcId"), 1);
    let used: Vec<_> = chunk.of("jdk.GCHeapSummary").map(|of| (of.text("when"), of.number("heapUsed"))).collect();
    assert_eq!(used, [("Before GC", 1000), ("After GC", 400)]);
    let pauses: Vec<_> = chunk.of("jdk.GCPhasePause").map(|of| (of.text("name"), of.number("gcId"))).collect();
    assert_eq!(pauses, [("full", 1), ("remark", 2)]);
    let begin = only(&chunk, "jdk.SafepointBegin");
    assert_eq!([begin.number("startTime"), begin.number("duration")], [ms(1), MS]);
    assert_eq!(only(&chunk, "jdk.SafepointEnd").number("startTime"), ms(10));
    let operations: Vec<_> =
        chunk.of("jdk.ExecuteVMOperation").map(|of| (of.text("operation"), of.number("safepointId"))).collect();
    assert_eq!(operations, [("G1CollectFull", 1), ("G1PauseRemark", 0)]);
}

/// JDK Mission Control's rule for operations fails where a file has no field `caller`.
#[test]
fn an_operation_names_who_asked_where_it_was_one_thread() {
    let (chunk, _) = one_chunk(
        "thread 5 \"VM Thread\"\nthread 7 \"worker-7\"\nlenses safepoint\n\
         +1ms tid 7 vm_operation_request name=\"FindDeadlocks\"\n\
         +2ms tid 5 vm_operation_begin name=\"FindDeadlocks\"\n+3ms tid 5 vm_operation_end name=\"FindDeadlocks\"\n\
         +4ms tid 7 vm_operation_request name=\"PrintThreads\"\n+4ms tid 8 vm_operation_request name=\"PrintThreads\"\n\
         +5ms tid 5 vm_operation_begin name=\"PrintThreads\"\n+6ms tid 5 vm_operation_end name=\"PrintThreads\"\n\
         +7ms tid 5 vm_operation_begin name=\"Cleanup\"\n+8ms tid 5 vm_operation_end name=\"Cleanup\"\nend +1s duration\n",
    );
    let operations: Vec<_> = chunk.of("jdk.ExecuteVMOperation").collect();
    assert_eq!(operations[0].text("caller.osName"), "worker-7");
    assert_eq!([1, 2].map(|at| operations[at].get("caller")), [&Value::Null; 2]);
}

#[test]
fn threads_tell_who_started_them_and_an_id_that_comes_again_is_another_thread() {
    let (chunk, _) = one_chunk(
        "thread 1 \"main\"\nlenses threads\nstack spawn \"a.Main.main:3\" \"java.lang.Thread.start:1500\"\n\
         +1ms tid 1 thread_starting os_tid=24 stack=spawn\n\
         +2ms tid 24 thread_start name=\"one\" java_tid=60 os_tid=24\n+3ms tid 24 sleep_begin duration=5\n\
         +9ms tid 24 sleep_end\n+10ms tid 24 thread_stop name=\"one\" java_tid=60 os_tid=24\n\
         +20ms tid 24 thread_start name=\"two\" java_tid=61 os_tid=24\nend +1s duration\n",
    );
    let starts: Vec<&Value> = chunk.of("jdk.ThreadStart").collect();
    assert_eq!((starts[0].text("thread.javaName"), starts[0].number("thread.javaThreadId")), ("one", 60));
    assert_eq!((starts[1].text("thread.javaName"), starts[1].get("parentThread")), ("two", &Value::Null));
    assert_eq!(starts[0].text("parentThread.osName"), "main");
    assert_eq!(starts[0].frames()[1], "JIT compiled a/Main.main:3");
    let sleep = only(&chunk, "jdk.ThreadSleep");
    assert_eq!((sleep.number("time"), sleep.number("duration")), (5 * MS, 6 * MS));
    assert_eq!(sleep.text("eventThread.javaName"), "one");
    assert_eq!(only(&chunk, "jdk.ThreadEnd").text("thread.javaName"), "one");
}

#[test]
fn what_is_asked_for_one_by_one_is_there_one_by_one() {
    let (chunk, _) = one_chunk(
        "lenses methods,alloc,jni\nsubject add \"com.shop.Cart\" \"add\" \"(I)V\"\nsubject grid \"int[][]\"\n\
         +1ms tid 7 method_entry subject=add sp=0x1000 wanted=1\n+2ms tid 7 method_return subject=add sp=0x1000 wanted=1\n\
         +3ms tid 7 object_alloc subject=grid bytes=64 length=5 wanted=1\n\
         +9ms tid 7 jni_return function=GetArrayLength caller=\"a.B.c\" total=2ms inner=1ms\nend +1s duration\n",
    );
    let entry = only(&chunk, "jtrace.MethodEntry");
    let names = ["method.type.name", "method.name", "method.descriptor"].map(|path| entry.text(path));
    assert_eq!(names, ["com/shop/Cart", "add", "(I)V"]);
    let made = only(&chunk, "jtrace.ObjectAllocation");
    assert_eq!((made.text("objectClass.name"), made.number("size")), ("[[I", 64));
    let call = only(&chunk, "jtrace.JniCall");
    assert_eq!(
        (call.text("function"), call.number("duration"), call.number("selfTime")),
        ("GetArrayLength", 2 * MS, MS)
    );
    assert_eq!(chunk.of("jtrace.MethodReturn").count(), 1);
}

/// All scenarios of the repository, also those that try to harm a reader.
#[test]
fn there_are_as_many_events_as_the_report_counts() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).expect("scenarios") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("text");
        let (file, report) = written(&text);
        let chunks = read(&file);
        for (lens, key, name) in [
            ("cpu", "samples", "jdk.ExecutionSample"),
            ("gc", "pauses", "jdk.GCPhasePause"),
            ("gc", "collections", "jdk.GarbageCollection"),
            ("safepoint", "safepoints", "jdk.SafepointBegin"),
            ("threads", "started", "jdk.ThreadStart"),
            ("threads", "stopped", "jdk.ThreadEnd"),
            ("classes", "loaded", "jdk.ClassLoad"),
            ("classes", "unloaded", "jdk.ClassUnload"),
            ("alloc", "samples", "jdk.ObjectAllocationSample"),
            ("offcpu", "blocks", "jtrace.OffCpu"),
        ] {
            let Some(counted) = report.section(lens).and_then(|section| section.number(key)) else { continue };
            let events = chunks.iter().flat_map(|chunk| chunk.of(name)).count();
            assert!((counted - events as f64).abs() < 0.5, "{lens} {key}: {counted}, and {events} {name}: {text}");
            compared += events;
        }
        let count = |name: &str| chunks.iter().flat_map(|chunk| chunk.of(name)).count();
        assert_eq!(count("jtrace.Finding"), report.findings.len());
        assert!(count("jtrace.Missing") >= report.completeness.missing.len());
        let whole = chunks.last().map(|chunk| only(chunk, "jtrace.Completeness").number("delivered"));
        assert_eq!(whole, Some(report.completeness.delivered.cast_signed()));
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn no_name_reaches_a_terminal_as_it_is_and_none_is_what_a_reader_stumbles_over() {
    let (chunk, _) = one_chunk(
        "lenses classes,threads,jit,locks\n\
         +1ms tid 1 class_loaded class=\"[evil\\e[2J\"\n+1ms tid 1 class_loaded class=\"[\"\n+1ms tid 1 class_loaded class=lost\n\
         +2ms tid 9 compile_begin compiler=\"C2\" class=\"a/B\" method=\"m\" signature=\"(Lno;\"\n\
         +3ms tid 9 compile_end compiler=\"C2\" class=\"a/B\" method=\"m\" signature=\"(Lno;\" success=true\n\
         +4ms tid 2 off_cpu blocked=max run_queue=max\n\
         +5ms tid 2 thread_start name=\"\\e]0;title\\n\" java_tid=max os_tid=max\nend +1s duration\n",
    );
    let loaded: Vec<&str> = chunk.of("jdk.ClassLoad").map(|of| of.text("loadedClass.name")).collect();
    assert_eq!(loaded, ["<[evil\\x1b[2J>", "<[>", "<name lost>"]);
    assert_eq!(only(&chunk, "jdk.Compilation").text("method.descriptor"), "()L;");
    let off = only(&chunk, "jtrace.OffCpu");
    assert_eq!((off.number("startTime"), off.number("duration")), (0, ms(4)));
    assert_eq!(only(&chunk, "jdk.ThreadStart").text("thread.javaName"), "\\x1b]0;title\\n");
}

#[test]
fn a_stack_with_more_frames_than_a_reader_wants_is_cut_at_its_outer_end() {
    let mut text = "lenses cpu\nstack deep".to_owned();
    text.extend((0..5000).map(|frame| format!(" \"a.Main.call{frame}:1\"")));
    let (chunk, _) = one_chunk(&(text + "\n+1ms tid 1 cpu_sample period=10ms stack=deep\nend +1s duration\n"));
    let sample = only(&chunk, "jdk.ExecutionSample");
    let frames = sample.frames();
    assert_eq!((frames.len(), sample.get("stackTrace.truncated")), (2048, &Value::Flag(true)));
    assert_eq!(frames[0], "JIT compiled a/Main.call4999:1");
}

#[test]
fn what_no_file_of_single_events_can_hold_is_said() {
    let (chunk, _) = one_chunk(
        "lenses methods\nsubject add \"a.Cart\" \"add\" \"(I)V\"\ntally add count=3 timed=3 total=6ms self=6ms\nend +1s duration\n",
    );
    let said: Vec<&str> = chunk.of("jtrace.Missing").map(|of| of.text("sentence")).collect();
    assert!(said.iter().any(|sentence| sentence.contains("`--each`")), "{said:?}");
}

#[test]
fn chunks_end_after_a_minute_and_each_holds_all_that_it_needs() {
    let mut text = "thread 7 \"worker\"\nlenses locks\nstack idle \"java.lang.Thread.run:840\"\n".to_owned();
    for second in (0..150).step_by(10) {
        let end = second + 9;
        text.extend([format!("+{second}s tid 7 park_begin stack=idle\n"), format!("+{end}s tid 7 park_end\n")]);
    }
    let (file, report) = written(&(text + "end +150s duration\n"));
    let chunks = read(&file);
    assert_eq!(chunks.len(), 3);
    let parks: Vec<usize> = chunks.iter().map(|chunk| chunk.of("jdk.ThreadPark").count()).collect();
    assert_eq!(parks, [6, 6, 3]);
    for (before, chunk) in chunks.iter().zip(&chunks[1..]) {
        assert_eq!(chunk.start_ns, before.start_ns + before.duration_ns);
        assert_eq!(chunk.wall_ns, before.wall_ns + before.duration_ns);
        assert_eq!(chunk.of("jdk.ThreadPark").next().map(|park| park.text("eventThread.osName")), Some("worker"));
        assert_eq!(chunk.of("jtrace.Completeness").count(), usize::from(chunk.start_ns == START_NS + 120_000_000_000));
    }
    assert_eq!(report.completeness.delivered, 30);
}

/// A target that makes names up: no chunk is much above its bound, whatever they are.
#[test]
fn made_up_names_end_a_chunk() {
    let mut text = "lenses classes\n".to_owned();
    for number in 0..9000 {
        text.extend([format!("+1ms tid 1 class_loaded class=\"{number}{}\"\n", "x".repeat(5000))]);
    }
    let (file, _) = written(&(text + "end +1s duration\n"));
    let chunks = read(&file);
    assert!(chunks.len() > 1, "{}", file.len());
    let loads: usize = chunks.iter().map(|chunk| chunk.of("jdk.ClassLoad").count()).sum();
    assert_eq!(loads, 9000);
    assert!(chunks.iter().all(|chunk| chunk.of("jdk.ClassLoad").all(|of| of.text("loadedClass.name").len() < 2100)));
}
