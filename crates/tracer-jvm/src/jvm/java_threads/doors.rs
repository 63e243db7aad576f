//! Sockets at which something comes, connections or datagrams, of a thread that has them in a field, or whose task does: it is the one that
//! takes what comes, whatever it does just now.

use super::{
    held::{Held, each},
    named_fields::{MAX_DEPTH, NamedFields},
    reader::Reader,
};
use crate::jvm::peek::Peek;

/// Most sockets of a thread.
const MAX_DOORS: usize = 64;

/// A socket of a thread, at which something comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// Its port.
    pub port: u16,
    /// Whether datagrams come there, and not connections.
    pub is_of_datagrams: bool,
    /// Whether the thread, or its task, has it itself, and not through an object that others may have as well.
    pub is_own: bool,
}

/// The sockets of a thread.
pub(super) fn doors<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, thread: u64) -> Vec<Door> {
    let mut doors = Vec::new();
    each(fields, reader, thread, &mut |Held { object, is_own, .. }| {
        let door = port(fields, reader, object);
        let door = door.map(|(port, is_of_datagrams)| Door { port, is_of_datagrams, is_own });
        if doors.len() < MAX_DOORS {
            doors.extend(door);
        }
        door.is_some()
    });
    doors
}

/// The port of a socket, of each kind that the JDK has, and whether datagrams come there.
fn port<P: Peek>(fields: &NamedFields, reader: &Reader<'_, P>, object: u64) -> Option<(u16, bool)> {
    let classes = reader.classes(object, MAX_DEPTH);
    let is_a = |name: &str| classes.iter().any(|class| class == name);
    let of_channel = |channel: u64| {
        let address = fields.reference(reader, channel, "localAddress")?;
        Some((fields.reference(reader, address, "holder")?, "port"))
    };
    let is_of_datagrams = is_a("java.net.DatagramSocket") || is_a("sun.nio.ch.DatagramChannelImpl");
    let (holder, field) = if is_a("java.net.ServerSocket") {
        (fields.reference(reader, object, "impl")?, "localport")
    } else if is_a("sun.nio.ch.ServerSocketChannelImpl") || is_a("sun.nio.ch.DatagramChannelImpl") {
        of_channel(object)?
    } else if is_of_datagrams {
        // Before 14 it has the port itself; since then it stands before a channel.
        let channel = || fields.reference(reader, fields.reference(reader, object, "delegate")?, "dc");
        match channel() {
            Some(channel) => of_channel(channel)?,
            None => (fields.reference(reader, object, "impl")?, "localPort"),
        }
    } else {
        return None;
    };
    // A socket that is not bound has none.
    let port = u16::try_from(fields.int(reader, holder, field)?).ok().filter(|port| *port > 0)?;
    Some((port, is_of_datagrams))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            named_fields::of_objects,
            reader::Classes,
            virtual_threads::tests::{METADATA, PLACES},
        },
        *,
    };
    use crate::{
        fuzz::{self, Metered},
        jvm::peek::copy::Copy,
    };

    /// `Klass*`s: of a thread, its holder, a task, an object of the program, both kinds of sockets, and what these lead to.
    const THREAD: u64 = 0x5000;
    const HOLDER: u64 = 0x5100;
    const TASK: u64 = 0x5200;
    const ENDPOINT: u64 = 0x5300;
    const SOCKET: u64 = 0x5400;
    const CHANNEL: u64 = 0x5500;
    const IMPL: u64 = 0x5600;
    const ADDRESS: u64 = 0x5700;
    const PORT: u64 = 0x5800;
    const NAMES: [(u64, &str); 9] = [
        (THREAD, "com.shop.Clerk"),
        (HOLDER, "java.lang.Thread$FieldHolder"),
        (TASK, "com.shop.Acceptor"),
        (ENDPOINT, "com.shop.Endpoint"),
        (SOCKET, "java.net.ServerSocket"),
        (CHANNEL, "sun.nio.ch.ServerSocketChannelImpl"),
        (IMPL, "sun.nio.ch.NioSocketImpl"),
        (ADDRESS, "java.net.InetSocketAddress"),
        (PORT, "java.net.InetSocketAddress$InetSocketAddressHolder"),
    ];
    /// The one field of each object.
    const FIELD: u64 = 0x10;
    const OBJECTS: u64 = 0x10_0000;

    fn at(number: u64) -> u64 {
        OBJECTS + number * 0x80
    }

    /// A thread with a socket, whose task has an endpoint with a channel.
    fn memory() -> Copy {
        let mut copy = Copy::default();
        // Which object each one's field leads to; the last but one and the last are numbers.
        let leads = [4, 2, 3, 5, 6, 7, 8080, 8, 9090];
        for ((number, (klass, _)), to) in (0..).zip(NAMES).zip(leads) {
            copy.write(at(number), &[0; 0x80]);
            copy.write_u32(at(number) + 8, u32::try_from(klass).unwrap());
            let word = if to < 9 { at(to) } else { to };
            copy.write_u32(at(number) + FIELD, u32::try_from(word).unwrap());
        }
        copy.write_u32(at(0) + PLACES.holder.unwrap(), u32::try_from(at(1)).unwrap());
        copy
    }

    fn found(memory: &impl Peek) -> Vec<(u16, bool)> {
        let known = [
            of_objects(HOLDER, "task", true, FIELD),
            of_objects(SOCKET, "impl", true, FIELD),
            of_objects(IMPL, "localport", false, FIELD),
            of_objects(CHANNEL, "localAddress", true, FIELD),
            of_objects(ADDRESS, "holder", true, FIELD),
            of_objects(PORT, "port", false, FIELD),
        ];
        let references =
            [(THREAD, "Clerk.door", FIELD), (TASK, "Acceptor.endpoint", FIELD), (ENDPOINT, "Endpoint.channel", FIELD)];
        let fields = NamedFields::with(known.to_vec()).with_references(&references);
        let classes = Classes::with(&NAMES);
        let reader = Reader { memory, metadata: &METADATA, places: &PLACES, classes: &classes };
        doors(&fields, &reader, at(0)).into_iter().map(|door| (door.port, door.is_own)).collect()
    }

    #[test]
    fn sockets_are_found_in_a_threads_fields_and_in_those_of_its_task() {
        assert_eq!(found(&memory()), [(8080, true), (9090, false)]);
        let mut unbound = memory();
        unbound.write_u32(at(6) + FIELD, 0);
        assert_eq!(found(&unbound), [(9090, false)]);
    }

    /// The port at the end of a chain of objects, each with one field, that begins at a thread.
    fn at_end(chain: &[(u64, &str, &'static str)]) -> Vec<(u16, bool)> {
        let mut copy = Copy::default();
        let mut known = Vec::new();
        for ((number, (klass, _, field)), is_last) in (0..).zip(chain).zip((1..).map(|next| next == chain.len())) {
            copy.write(at(number), &[0; 0x80]);
            copy.write_u32(at(number) + 8, u32::try_from(*klass).unwrap());
            let leads_to = if is_last { 8125 } else { at(number + 1) };
            copy.write_u32(at(number) + FIELD, u32::try_from(leads_to).unwrap());
            known.push(of_objects(*klass, field, !is_last, FIELD));
        }
        // A thread of the platform has a holder, and this one no task.
        let holder = at(chain.len() as u64);
        copy.write(holder, &[0; 0x80]);
        copy.write_u32(at(0) + PLACES.holder.unwrap(), u32::try_from(holder).unwrap());
        let fields = NamedFields::with(known).with_references(&[(THREAD, "Clerk.socket", FIELD)]);
        let names: Vec<(u64, &str)> = chain.iter().map(|(klass, name, _)| (*klass, *name)).collect();
        let classes = Classes::with(&names);
        let reader = Reader { memory: &copy, metadata: &METADATA, places: &PLACES, classes: &classes };
        doors(&fields, &reader, at(0)).into_iter().map(|door| (door.port, door.is_of_datagrams)).collect()
    }

    #[test]
    fn a_socket_of_datagrams_has_its_port_itself_or_stands_before_a_channel() {
        let thread = (THREAD, "com.shop.Clerk", "socket");
        let (address, port) = (
            (ADDRESS, "java.net.InetSocketAddress", "holder"),
            (PORT, "java.net.InetSocketAddress$InetSocketAddressHolder", "port"),
        );
        let channel = (CHANNEL, "sun.nio.ch.DatagramChannelImpl", "localAddress");
        let of_11 =
            [(SOCKET, "java.net.DatagramSocket", "impl"), (IMPL, "java.net.PlainDatagramSocketImpl", "localPort")];
        let of_17 = [(SOCKET, "java.net.DatagramSocket", "delegate"), (IMPL, "sun.nio.ch.DatagramSocketAdaptor", "dc")];
        assert_eq!(at_end(&[&[thread], &of_11[..]].concat()), [(8125, true)]);
        assert_eq!(at_end(&[&[thread], &of_17[..], &[channel, address, port]].concat()), [(8125, true)]);
        assert_eq!(at_end(&[thread, channel, address, port]), [(8125, true)]);
    }

    #[test]
    fn fuzz_doors() {
        let sound = memory();
        fuzz::each("doors", 1 << 20, |dice| {
            let mut copy = sound.clone();
            fuzz::damage(dice, &mut copy);
            let _: Vec<(u16, bool)> = found(&Metered::new(copy, 1 << 20));
        });
    }
}
