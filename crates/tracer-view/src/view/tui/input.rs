//! Keys and sizes of the terminal, read by a thread of their own and delivered through a channel.

use std::{io, thread, time::Duration};

use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind, MouseEvent, MouseEventKind};
use tokio::sync::mpsc;

/// How long the thread waits for a key before it looks whether somebody still listens.
const PATIENCE: Duration = Duration::from_millis(100);

/// Keys that wait to be handled; somebody who leans on a key loses the rest.
const WAITING: usize = 64;

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Pressed a key.
    Key(KeyEvent),
    /// Moved or pressed the mouse.
    Mouse(MouseEvent),
    /// Changed the size of the terminal: columns and lines. Drawing takes care of it by itself.
    Resize(u16, u16),
}

/// Begins to read. The thread ends soon after the receiver is dropped; the channel closes when nothing can be read.
///
/// # Errors
/// Where no thread can be started.
pub fn spawn() -> io::Result<mpsc::Receiver<Input>> {
    let (sender, receiver) = mpsc::channel(WAITING);
    thread::Builder::new().name("jtrace-input".into()).spawn(move || read(&sender))?;
    Ok(receiver)
}

fn read(sender: &mpsc::Sender<Input>) {
    while !sender.is_closed() {
        match event::poll(PATIENCE).and_then(|is_there| is_there.then(event::read).transpose()) {
            Ok(Some(event)) => {
                if let Some(input) = input(&event) {
                    // A full channel means that keys come faster than they are handled; dropping them is harmless.
                    _ = sender.try_send(input);
                }
            }
            Ok(None) => {}
            Err(error) => {
                log::warn!("keys can no longer be read: {error}");
                return;
            }
        }
    }
}

/// The part of a terminal's event that matters here.
fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(*key)),
        Event::Resize(columns, lines) => Some(Input::Resize(*columns, *lines)),
        Event::Mouse(event) if is_heard(event.kind) => Some(Input::Mouse(*event)),
        Event::Key(_) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Paste(_) => None,
    }
}

/// Movements come by the hundred and mean nothing here.
const fn is_heard(kind: MouseEventKind) -> bool {
    matches!(kind, MouseEventKind::Down(_) | MouseEventKind::ScrollDown | MouseEventKind::ScrollUp)
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    #[test]
    fn released_keys_are_no_input() {
        let key = |kind| Event::Key(KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, kind));
        assert!(matches!(input(&key(KeyEventKind::Press)), Some(Input::Key(_))));
        assert_eq!(input(&key(KeyEventKind::Release)), None);
        assert_eq!(input(&Event::Resize(80, 24)), Some(Input::Resize(80, 24)));
    }
}
