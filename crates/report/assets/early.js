// Before anything is drawn: the page is enhanced, and looks as it did the last time.
document.documentElement.classList.add("enhanced", "events");
try {
  const theme = localStorage.getItem("selvedge-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // A browser that stores nothing for files follows the system's setting.
}
