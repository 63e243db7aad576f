//! Libraries that programs are written with, by the packages of their classes: what the program's own line is when one of them stands
//! below it, and which of them ask others over a network, or are asked.
//!
//! A list can only hold what is known widely. Whatever is not in it counts as the program's own.

use crate::{event::StackId, stack::Stacks};

use super::site;

/// Packages, in the order of their names. `javax` is the JDK's already.
const PACKAGES: [&str; 93] = [
    "akka",
    "bitronix",
    "ch.qos.logback",
    "clojure",
    "com.alibaba.druid",
    "com.amazonaws",
    "com.clickhouse",
    "com.codahale",
    "com.datastax",
    "com.fasterxml",
    "com.github.benmanes.caffeine",
    "com.google.api",
    "com.google.common",
    "com.google.gson",
    "com.google.inject",
    "com.google.protobuf",
    "com.hazelcast",
    "com.ibm.db2",
    "com.jcraft.jsch",
    "com.jolbox",
    "com.lmax.disruptor",
    "com.mchange",
    "com.microsoft.sqlserver",
    "com.mongodb",
    "com.mysql",
    "com.netflix",
    "com.rabbitmq",
    "com.zaxxer.hikari",
    "dev.failsafe",
    "feign",
    "freemarker",
    "graphql",
    "groovy",
    "io.agroal",
    "io.grpc",
    "io.lettuce",
    "io.micrometer",
    "io.micronaut",
    "io.netty",
    "io.opentelemetry",
    "io.quarkus",
    "io.reactivex",
    "io.undertow",
    "io.vertx",
    "jakarta",
    "javassist",
    "kotlin",
    "kotlinx",
    "liquibase",
    "net.bytebuddy",
    "net.sf.ehcache",
    "net.spy.memcached",
    "okhttp3",
    "okio",
    "oracle",
    "org.apache",
    "org.aspectj",
    "org.bouncycastle",
    "org.codehaus",
    "org.eclipse.jetty",
    "org.eclipse.persistence",
    "org.ehcache",
    "org.elasticsearch.client",
    "org.flywaydb",
    "org.glassfish",
    "org.h2",
    "org.hibernate",
    "org.hsqldb",
    "org.infinispan",
    "org.jboss",
    "org.jdbi",
    "org.joda",
    "org.jooq",
    "org.junit",
    "org.mariadb",
    "org.neo4j.driver",
    "org.postgresql",
    "org.quartz",
    "org.redisson",
    "org.slf4j",
    "org.springframework",
    "org.sqlite",
    "org.thymeleaf",
    "org.vibur",
    "org.wildfly",
    "org.xnio",
    "org.yaml",
    "play",
    "reactor",
    "redis.clients",
    "retrofit2",
    "scala",
    "software.amazon",
];
/// Parts of the longest of them.
const MOST_PARTS: usize = 4;

/// Whose methods ask others, by how their names begin, and whom.
const CLIENTS: [(&str, &str); 34] = [
    ("com.amazonaws.http.", "AWS"),
    ("com.clickhouse.", "ClickHouse"),
    ("com.datastax.", "Cassandra"),
    ("com.ibm.db2.", "Db2 (JDBC)"),
    ("com.jcraft.jsch.", "SSH"),
    ("com.microsoft.sqlserver.", "SQL Server (JDBC)"),
    ("com.mongodb.", "MongoDB"),
    ("com.mysql.", "MySQL (JDBC)"),
    ("com.rabbitmq.client.", "RabbitMQ"),
    ("com.sun.jndi.ldap.", "LDAP"),
    ("com.sun.mail.", "mail"),
    ("io.grpc.stub.ClientCalls.", "gRPC"),
    ("io.lettuce.core.", "Redis (Lettuce)"),
    ("jdk.internal.net.http.HttpClientImpl.send", "HTTP (java.net.http)"),
    ("net.spy.memcached.", "memcached"),
    ("okhttp3.", "HTTP (OkHttp)"),
    ("oracle.jdbc.", "Oracle (JDBC)"),
    ("org.apache.activemq.", "ActiveMQ"),
    ("org.apache.commons.httpclient.", "HTTP (Apache)"),
    ("org.apache.derby.client.", "Derby (JDBC)"),
    ("org.apache.hc.client5.", "HTTP (Apache)"),
    ("org.apache.http.impl.", "HTTP (Apache)"),
    ("org.apache.kafka.clients.", "Kafka"),
    ("org.apache.zookeeper.ClientCnxn.", "ZooKeeper"),
    ("org.elasticsearch.client.", "Elasticsearch"),
    ("org.h2.engine.SessionRemote.", "H2 (JDBC)"),
    ("org.hsqldb.ClientConnection.", "HSQLDB (JDBC)"),
    ("org.mariadb.jdbc.", "MariaDB (JDBC)"),
    ("org.neo4j.driver.", "Neo4j"),
    ("org.postgresql.", "PostgreSQL (JDBC)"),
    ("redis.clients.jedis.", "Redis (Jedis)"),
    ("software.amazon.awssdk.", "AWS"),
    ("sun.net.www.protocol.http.", "HTTP (HttpURLConnection)"),
    ("sun.rmi.transport.StreamRemoteCall.executeCall", "RMI"),
];

/// What calls the program for a request, or for an element of a stream or a task of a job, by the beginning of its name. None of it is on
/// the stack of a thread that waits for the next one.
const SERVERS: [(&str, &str); 11] = [
    ("io.grpc.internal.ServerImpl$JumpToApplicationThreadServerStreamListener$", "gRPC"),
    ("io.undertow.server.Connectors.executeRootHandler", "HTTP (Undertow)"),
    ("jakarta.servlet.http.HttpServlet.service", "HTTP (a servlet)"),
    ("javax.servlet.http.HttpServlet.service", "HTTP (a servlet)"),
    ("org.apache.catalina.core.StandardEngineValve.invoke", "HTTP (Tomcat)"),
    ("org.apache.flink.streaming.runtime.io.AbstractStreamTaskNetworkInput.processElement", "a stream (Flink)"),
    ("org.apache.spark.scheduler.Task.run", "a job (Spark)"),
    ("org.eclipse.jetty.server.Server.handle", "HTTP (Jetty)"),
    ("sun.net.httpserver.ServerImpl$Exchange$LinkHandler.handle", "HTTP (the JDK's HttpServer)"),
    ("sun.net.httpserver.ServerImpl$DefaultExecutor.execute", "HTTP (the JDK's HttpServer)"),
    ("sun.rmi.server.UnicastServerRef.dispatch", "RMI"),
];

/// Whether a class, or a method with its class, is of a library.
pub fn has(name: &str) -> bool {
    let ends = name.match_indices('.').map(|(at, _)| at).take(MOST_PARTS);
    ends.filter_map(|end| name.get(..end)).any(|package| PACKAGES.binary_search(&package).is_ok())
}

/// Whom a thread with this stack asks, where a library does that for the program: of several the one that the program has called.
pub(super) fn asked(stacks: &Stacks, id: StackId) -> Option<&'static str> {
    let below = stacks.frames_of(id).take_while(|frame| !site::is_own(frame)).filter(|frame| frame.kind.is_java());
    below.filter_map(|frame| found(&CLIENTS, &frame.name)).last()
}

/// For whom a thread with this stack is at work, and the method of the program that was called for it, where it has one: the request's
/// handler.
pub(super) fn served(stacks: &Stacks, id: StackId) -> Option<(&'static str, Option<String>)> {
    let mut handler = None;
    let mut served = None;
    for frame in stacks.frames_of(id).filter(|frame| frame.kind.is_java()) {
        if let Some(what) = found(&SERVERS, &frame.name) {
            // Of two that call each other the outer one says which server it is, and what the inner one calls handles the request.
            served = Some((what, served.and_then(|(_, inner)| inner).or(handler)));
        }
        if site::is_own(frame) {
            handler = Some(frame);
        }
    }
    served.map(|(what, handler)| (what, handler.map(|frame| frame.name.to_string())))
}

fn found(known: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    known.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::{super::testing::Play, *};

    #[test]
    fn classes_are_of_a_library_by_whole_parts_of_their_packages() {
        assert!(PACKAGES.is_sorted());
        assert!(PACKAGES.iter().all(|package| package.split('.').count() <= MOST_PARTS));
        assert!(
            ["org.postgresql.core.PGStream.receive:4", "scala.Option", "com.zaxxer.hikari.pool.X.a"]
                .iter()
                .all(|name| has(name))
        );
        assert!(
            !["org.postgresqlite.A.b:1", "com.shop.Cart", "scalable.A.b", "com.zaxxer.Own.a", "playground.A"]
                .iter()
                .any(|name| has(name))
        );
    }

    #[test]
    fn who_is_asked_is_what_the_program_has_called() {
        let mut play = Play::default();
        let mut of = |frames: &[&str]| {
            let id = play.stack(frames);
            asked(&play.stacks, id)
        };
        let socket = "java.net.SocketInputStream.socketRead0";
        assert_eq!(
            of(&[
                "a.Orders.find:9",
                "com.zaxxer.hikari.pool.P.execute:1",
                "org.postgresql.core.PGStream.receive:4",
                socket
            ]),
            Some("PostgreSQL (JDBC)")
        );
        let over =
            ["a.Clicks.add:9", "com.clickhouse.client.C.send:1", "org.apache.hc.client5.http.H.execute:4", socket];
        assert_eq!(of(&over), Some("ClickHouse"));
        assert_eq!(
            of(&["org.postgresql.core.PGStream.receive:4", "a.Own.read:9", socket]),
            None,
            "the program reads itself"
        );
        assert_eq!(of(&["a.Own.read:9", socket]), None);
    }

    #[test]
    fn a_request_is_told_by_its_handler() {
        let mut play = Play::default();
        let mut of = |frames: &[&str]| {
            let id = play.stack(frames);
            served(&play.stacks, id)
        };
        let (valve, servlet) =
            ("org.apache.catalina.core.StandardEngineValve.invoke:74", "javax.servlet.http.HttpServlet.service:733");
        let handler = of(&["a.Main.run:3", valve, "a.Filter.doFilter:9", servlet, "a.Shop.doGet:4", "a.Cart.add:5"]);
        assert_eq!(handler, Some(("HTTP (Tomcat)", Some("a.Shop.doGet".to_owned()))));
        assert_eq!(of(&[valve, "org.apache.catalina.servlets.DefaultServlet.doGet:1"]), Some(("HTTP (Tomcat)", None)));
        assert_eq!(of(&["a.Main.run:3", "a.Cart.add:5"]), None);
    }

    #[test]
    fn a_thread_of_a_stream_is_at_work_where_it_has_an_element() {
        let mut play = Play::default();
        let mut of = |frames: &[&str]| {
            let id = play.stack(frames);
            served(&play.stacks, id)
        };
        let mailbox = "org.apache.flink.streaming.runtime.tasks.mailbox.MailboxProcessor.runMailboxLoop:231";
        let element = "org.apache.flink.streaming.runtime.io.AbstractStreamTaskNetworkInput.processElement:213";
        let with_element = of(&[mailbox, element, "a.Enrich.map:4"]);
        assert_eq!(with_element, Some(("a stream (Flink)", Some("a.Enrich.map".to_owned()))));
        assert_eq!(of(&[mailbox, "java.util.concurrent.locks.LockSupport.park:211"]), None);
    }
}
