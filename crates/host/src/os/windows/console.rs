//! Events of the console: Ctrl-C, Ctrl-Break, a closed window, the end of the user's session.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;
use windows_sys::Win32::System::Console::{
    CTRL_BREAK_EVENT, CTRL_C_EVENT, CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT,
    SetConsoleCtrlHandler,
};

/// Time for which the handler delays the end of the process, after an event that ends it. After the
/// console window was closed, Windows ends the process after 5 s in any case.
const HELD: Duration = Duration::from_secs(30);

/// Function to call on every event.
static HEARD: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Handler of console events. Windows calls it on a new thread, so it may call any function.
unsafe extern "system" fn handle(event: u32) -> i32 {
    let Some(heard) = HEARD.get() else { return 0 };
    match event {
        CTRL_C_EVENT | CTRL_BREAK_EVENT => heard(),
        CTRL_CLOSE_EVENT | CTRL_LOGOFF_EVENT | CTRL_SHUTDOWN_EVENT => {
            heard();
            // The process ends when the handler returns. So the handler waits while the session
            // writes its report and ends the process itself.
            std::thread::sleep(HELD);
        }
        _ => return 0,
    }
    1
}

/// Installs `heard` as the function to call on every event that requests the end of the program.
/// Only the first call has an effect.
pub fn on_console_events(heard: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    if HEARD.set(Box::new(heard)).is_err() {
        return Ok(());
    }
    // SAFETY: the handler is a function that exists as long as the process.
    if unsafe { SetConsoleCtrlHandler(Some(handle), 1) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
