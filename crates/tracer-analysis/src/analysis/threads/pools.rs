//! What threads wait to be given that there is a limited number of: by the methods of libraries that lend it, or by the names of the program's
//! own. Threads that wait there look like workers without work, and no event tells them apart.

use super::{super::site, reason::Kind};
use crate::{
    event::StackId,
    stack::{Frame, Stacks},
};

/// A method in which threads wait until there is one for them.
struct Lender {
    /// How its name begins.
    method: &'static str,
    kind: Kind,
    what: &'static str,
    /// How the name of the method begins in which those are at work that have one; none where they went on from where the others wait.
    workers: Option<&'static str>,
}

const fn pool(method: &'static str, what: &'static str) -> Lender {
    Lender { method, kind: Kind::Pool, what, workers: None }
}

const fn transaction(method: &'static str, what: &'static str) -> Lender {
    Lender { method, kind: Kind::Transaction, what, workers: None }
}

const fn answer(method: &'static str, what: &'static str) -> Lender {
    Lender { method, kind: Kind::Socket, what, workers: None }
}

const fn queue(method: &'static str, what: &'static str, workers: &'static str) -> Lender {
    Lender { method, kind: Kind::Queue, what, workers: Some(workers) }
}

/// What is widely used. A method that also connects, or looks whether a connection is alive, is here for the time in which it does neither.
const LENDERS: [Lender; 44] = [
    pool("bitronix.tm.resource.common.XAPool.", "a connection of Bitronix"),
    pool("com.alibaba.druid.pool.DruidDataSource.", "a connection of Druid"),
    pool("com.google.common.util.concurrent.RateLimiter.", "a turn by a rate limit (Guava)"),
    pool("com.jolbox.bonecp.", "a connection of BoneCP"),
    pool("com.mchange.v2.resourcepool.BasicResourcePool.", "a connection of c3p0"),
    pool("com.mongodb.internal.connection.ConcurrentPool.", "a connection to MongoDB"),
    pool("com.zaxxer.hikari.pool.HikariPool.getConnection", "a connection of HikariCP"),
    pool("io.agroal.pool.", "a connection of Agroal"),
    pool("io.github.bucket4j.", "a turn by a rate limit (Bucket4j)"),
    pool("io.github.resilience4j.bulkhead.", "room in a bulkhead (Resilience4j)"),
    pool("io.github.resilience4j.ratelimiter.", "a turn by a rate limit (Resilience4j)"),
    pool("oracle.ucp.", "a connection of Oracle's UCP"),
    pool(
        "org.apache.commons.httpclient.MultiThreadedHttpConnectionManager.",
        "a connection of the HTTP client (Apache)",
    ),
    pool("org.apache.commons.pool.impl.", "an object of Commons Pool"),
    pool("org.apache.commons.pool2.impl.", "an object of Commons Pool"),
    pool("org.apache.hc.core5.pool.", "a connection of the HTTP client (Apache)"),
    pool("org.apache.http.pool.", "a connection of the HTTP client (Apache)"),
    pool("org.apache.tomcat.dbcp.pool2.impl.", "a connection of Tomcat's DBCP"),
    pool("org.apache.tomcat.jdbc.pool.ConnectionPool.", "a connection of Tomcat's JDBC pool"),
    pool("org.jboss.jca.core.connectionmanager.pool.", "a connection of IronJacamar"),
    pool("org.vibur.", "a connection of Vibur"),
    Lender {
        method: "org.quartz.simpl.SimpleThreadPool.blockForAvailableThreads",
        kind: Kind::Pool,
        what: "a free thread of Quartz",
        workers: Some("org.quartz.core.JobRunShell.run"),
    },
    Lender {
        method: "org.apache.tomcat.util.threads.LimitLatch.",
        kind: Kind::Pool,
        what: "the end of one of Tomcat's connections (maxConnections)",
        workers: Some("org.apache.tomcat.util.net.NioEndpoint$SocketProcessor."),
    },
    answer("com.hazelcast.spi.impl.AbstractInvocationFuture.", "an answer of Hazelcast"),
    answer("com.rabbitmq.utility.BlockingCell.", "an answer of RabbitMQ"),
    answer("io.grpc.stub.ClientCalls.", "an answer over gRPC"),
    answer("io.lettuce.core.protocol.AsyncCommand.", "an answer of Redis"),
    answer("org.apache.activemq.transport.FutureResponse.", "an answer of the broker"),
    answer("org.apache.hc.core5.concurrent.BasicFuture.", "an answer over HTTP"),
    answer("org.apache.http.concurrent.BasicFuture.", "an answer over HTTP"),
    answer("org.apache.kafka.clients.producer.internals.ProduceRequestResult.", "an answer of the Kafka brokers"),
    answer("org.apache.zookeeper.ClientCnxn.", "an answer of ZooKeeper"),
    transaction("com.sleepycat.je.txn.", "another transaction (Berkeley DB)"),
    transaction("org.apache.derby.impl.services.locks.", "another transaction (Derby)"),
    transaction("org.h2.mvstore.db.MVTable.", "another transaction (H2)"),
    transaction("org.h2.mvstore.tx.Transaction.", "another transaction (H2)"),
    transaction("org.hsqldb.TransactionManager", "another transaction (HSQLDB)"),
    transaction("org.hsqldb.Session.", "another transaction (HSQLDB)"),
    transaction("org.infinispan.util.concurrent.locks.", "the lock of an entry (Infinispan)"),
    queue(
        "com.lmax.disruptor.MultiProducerSequencer.next",
        "room in a ring buffer of the Disruptor",
        "com.lmax.disruptor.BatchEventProcessor.",
    ),
    queue(
        "com.lmax.disruptor.SingleProducerSequencer.next",
        "room in a ring buffer of the Disruptor",
        "com.lmax.disruptor.BatchEventProcessor.",
    ),
    queue(
        "org.apache.activemq.usage.Usage.waitForSpace",
        "room in the memory of the ActiveMQ broker",
        "org.apache.activemq.ActiveMQMessageConsumer.",
    ),
    queue(
        "org.apache.kafka.clients.producer.internals.BufferPool.allocate",
        "room in the buffer of the Kafka producer",
        "org.apache.kafka.clients.producer.internals.Sender.",
    ),
    queue(
        "org.apache.kafka.clients.producer.KafkaProducer.waitOnMetadata",
        "metadata of the Kafka brokers",
        "org.apache.kafka.clients.producer.internals.Sender.",
    ),
];

/// Where threads end up that wait in such a method.
const WAITING: [&str; 4] =
    ["jdk.internal.misc.Unsafe.park", "sun.misc.Unsafe.park", "java.lang.Object.wait", "java.lang.Thread.sleep"];

/// How methods of the program's own are called that give what there is a limited number of.
const NAMES: [&str; 4] = ["acquire", "borrow", "getConnection", "lease"];
/// How far from the wait the method is that is called so.
const DEPTH: usize = 3;
/// Most methods that lead to a wait and are looked for elsewhere.
pub(super) const METHODS: usize = 8;

/// What a thread waits to be given: it waits for what is `told`, or for all that is known is within its innermost method.
pub(super) fn reason(stacks: &Stacks, stack: StackId, told: Option<&(Kind, String)>) -> Option<(Kind, String)> {
    let lender = lender(stacks, stack).filter(|lender| match told {
        Some((Kind::Condition | Kind::Notify | Kind::Park, _)) => true,
        // Others are what a pool keeps its list in order by.
        Some((Kind::Lock, class)) => class.contains("Semaphore"),
        Some((Kind::Latch | Kind::Task, _)) => lender.kind == Kind::Socket,
        Some(_) => false,
        None => waits(stacks, stack),
    });
    if let Some(lender) = lender {
        return Some((lender.kind, lender.what.to_owned()));
    }
    let is_told = matches!(told, Some((Kind::Condition | Kind::Notify | Kind::Park, _)));
    let name = is_told.then(|| own(stacks, stack)).flatten()?;
    // Packages say nothing here.
    let class = name.rsplit_once('.').and_then(|(class, _)| class.rfind('.'));
    Some((Kind::Pool, format!("what `{}` gives", name.get(class.map_or(0, |dot| dot + 1)..)?)))
}

fn waits(stacks: &Stacks, stack: StackId) -> bool {
    site::top(stacks, stack).is_some_and(|top| WAITING.iter().any(|begin| top.name.starts_with(begin)))
}

/// Whose method a thread waits in. Threads of a pool's own may wait in its methods as well, for something to do: only the program is lent
/// anything, unless it is known who has it.
fn lender(stacks: &Stacks, stack: StackId) -> Option<&'static Lender> {
    let java = || stacks.frames_of(stack).filter(|frame| frame.kind.is_java());
    let of = |frame: &Frame| LENDERS.iter().find(|lender| frame.name.starts_with(lender.method));
    let lender = java().take_while(|frame| !site::is_own(frame)).filter_map(of).last()?;
    (lender.workers.is_some() || java().any(site::is_own)).then_some(lender)
}

/// The method of the program that gives, by what it is called.
fn own(stacks: &Stacks, stack: StackId) -> Option<&str> {
    let near = stacks.frames_of(stack).filter(|frame| site::is_app(frame)).take(DEPTH);
    near.filter(|frame| site::is_own(frame)).map(|frame| &*frame.name).find(|name| {
        let method = name.rsplit_once('.').map_or(*name, |(_, method)| method);
        NAMES.iter().any(|begin| method.starts_with(begin))
    })
}

/// How threads are found that may have what others wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way<'a> {
    /// They came through one of these methods as well, the nearest first, and went on.
    Through(Vec<&'a str>),
    /// They are in a method whose name begins so.
    In(&'static str),
}

impl<'a> Way<'a> {
    /// Of threads that wait with this stack.
    pub(super) fn of(stacks: &'a Stacks, stack: StackId) -> Self {
        if let Some(workers) = lender(stacks, stack).and_then(|lender| lender.workers) {
            return Self::In(workers);
        }
        let class = |name: &'a str| name.rsplit_once('.').map_or(name, |(class, _)| class);
        // Nobody who has something is still in the pool's own methods.
        let pool = own(stacks, stack).map(class);
        let own = stacks.frames_of(stack).filter(|frame| site::is_own(frame)).map(|frame| &*frame.name);
        let mut methods: Vec<&str> = own.filter(|name| pool != Some(class(name))).take(METHODS).collect();
        methods.dedup();
        Self::Through(methods)
    }

    /// Which of these methods a thread with this stack, which does not wait there itself, is in: the nearest.
    pub(super) fn at(&self, stacks: &Stacks, stack: StackId) -> Option<usize> {
        let frames = || stacks.frames_of(stack).filter(|frame| frame.kind.is_java());
        match self {
            Self::Through(methods) => methods.iter().position(|method| frames().any(|frame| frame.name == *method)),
            Self::In(begin) => frames().any(|frame| frame.name.starts_with(begin)).then_some(0),
        }
    }

    /// The name of one of these methods, where it is the program's.
    pub(super) fn method(&self, at: usize) -> Option<&'a str> {
        match self {
            Self::Through(methods) => methods.get(at).copied(),
            Self::In(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::testing::Play, *};

    const PARK: &str = "jdk.internal.misc.Unsafe.park";

    fn of(told: Option<Kind>, frames: &[&str]) -> Option<(Kind, String)> {
        let mut play = Play::default();
        let stack = play.stack(frames);
        let told = told.map(|kind| (kind, "java.util.concurrent.locks.ReentrantLock$NonfairSync".to_owned()));
        reason(&play.stacks, stack, told.as_ref())
    }

    #[test]
    fn who_waits_in_a_pool_of_a_library_waits_for_what_it_lends() {
        let hikari = [
            "a.Shop.buy:3",
            "com.zaxxer.hikari.pool.HikariPool.getConnection:1",
            "com.zaxxer.hikari.util.ConcurrentBag.borrow:157",
        ];
        let parked = [&hikari[..], &[PARK]].concat();
        let connection = Some((Kind::Pool, "a connection of HikariCP".to_owned()));
        assert_eq!(of(Some(Kind::Park), &parked), connection);
        assert_eq!(of(None, &parked), connection, "with a limit of time");
        assert_eq!(of(Some(Kind::Socket), &hikari), None, "it connects");
        assert_eq!(of(None, &hikari), None, "it runs");
        let keeper = ["com.zaxxer.hikari.pool.HikariPool.getConnection:1", PARK];
        assert_eq!(of(Some(Kind::Park), &keeper), None, "a thread of the pool's own");
        let ring = ["a.Feed.push:9", "com.lmax.disruptor.MultiProducerSequencer.next:136", PARK];
        assert_eq!(of(None, &ring).map(|(kind, _)| kind), Some(Kind::Queue));
    }

    #[test]
    fn a_pool_of_the_programs_own_is_known_by_the_name_of_its_method() {
        let borrow = ["a.Shop.buy:3", "a.db.Connections.borrow:20", "java.lang.Object.wait"];
        assert_eq!(of(Some(Kind::Notify), &borrow), Some((Kind::Pool, "what `Connections.borrow` gives".to_owned())));
        assert_eq!(of(Some(Kind::Monitor), &borrow), None);
        assert_eq!(of(Some(Kind::Condition), &["a.Shop.run:3", "a.Mailbox.next:20", PARK]), None);
    }

    #[test]
    fn an_answer_that_another_thread_reads_is_waited_for() {
        let frames = ["a.Shop.sell:3", "org.apache.activemq.transport.FutureResponse.getResult:48", PARK];
        let answer = Some((Kind::Socket, "an answer of the broker".to_owned()));
        assert_eq!([Kind::Condition, Kind::Latch].map(|told| of(Some(told), &frames)), [answer.clone(), answer]);
        let pool = ["a.Shop.buy:3", "com.zaxxer.hikari.pool.HikariPool.getConnection:1", PARK];
        assert_eq!(of(Some(Kind::Latch), &pool), None);
    }

    #[test]
    fn a_lock_of_a_pool_is_no_pool_without_room_and_a_semaphore_is() {
        let mut play = Play::default();
        let stack = play.stack(&["a.Shop.buy:3", "org.apache.http.pool.AbstractConnPool.lease:1", PARK]);
        let mut of = |class: &str| {
            reason(&play.stacks, stack, Some(&(Kind::Lock, format!("java.util.concurrent.{class}")))).is_some()
        };
        assert_eq!(["locks.ReentrantLock$NonfairSync", "Semaphore$NonfairSync"].map(&mut of), [false, true]);
    }

    #[test]
    fn who_may_have_what_others_wait_for_went_on_or_is_one_of_the_workers() {
        let mut play = Play::default();
        let waits = play.stack(&[
            "a.Main.run:1",
            "a.Shop.buy:3",
            "a.Db.open:9",
            "com.zaxxer.hikari.pool.HikariPool.getConnection:1",
            PARK,
        ]);
        let has = play.stack(&["a.Main.run:1", "a.Shop.buy:7", "a.Price.ask:9"]);
        let (near, none) = (play.stack(&["a.Db.open:10"]), play.stack(&["a.Main.start:1"]));
        let way = Way::of(&play.stacks, waits);
        assert_eq!([near, has, none].map(|stack| way.at(&play.stacks, stack)), [Some(0), Some(1), None]);
        assert_eq!([0, 1, 3].map(|at| way.method(at)), [Some("a.Db.open"), Some("a.Shop.buy"), None]);
        let own = play.stack(&["a.Shop.buy:3", "a.db.Pool.get:2", "a.db.Pool.borrow:20", "java.lang.Object.wait"]);
        assert_eq!(Way::of(&play.stacks, own), Way::Through(vec!["a.Shop.buy"]));
        let quartz =
            play.stack(&["org.quartz.simpl.SimpleThreadPool.blockForAvailableThreads:452", "java.lang.Object.wait"]);
        let job = play.stack(&["org.quartz.core.JobRunShell.run:202", "a.Ping.execute:4"]);
        let way = Way::of(&play.stacks, quartz);
        assert_eq!([job, has].map(|stack| way.at(&play.stacks, stack)), [Some(0), None]);
    }
}
