/** Brings the frame of every page to life: rail, palette, shortcuts, notices. A page without it, as the login, has none
 * of their elements. */

import { render } from "preact";
import { ConnectionBar } from "../ui/connection_bar.tsx";
import { showSideways } from "../ui/controls.tsx";
import { Toasts } from "../ui/toasts.tsx";
import { COMMANDS, Overlays, openHelp, openPalette } from "./overlays.tsx";
import { installPhoneDrawer } from "./phone_drawer.ts";
import { PoolMeter } from "./pool_meter.tsx";
import { ProjectSwitch } from "./project_switch.tsx";
import { installShortcuts } from "./shortcuts.ts";
import { installSwitches } from "./switches.ts";

export function installShell(): void {
  const corner = document.createElement("div");
  document.body.append(corner);
  render(
    <>
      <ConnectionBar />
      <Toasts />
      <Overlays />
    </>,
    corner,
  );
  const section = document.querySelector<HTMLElement>(".section-nav [aria-current]");
  showSideways(section);
  const element = (id: string) => document.getElementById(id);
  const [rail, button, project, pool] = ["rail", "rail-open", "project-switch", "pool-meter"].map(element);
  if (!rail || !button || !project || !pool) return;
  render(<ProjectSwitch />, project);
  render(<PoolMeter />, pool);
  installSwitches();
  installShortcuts(COMMANDS, openPalette);
  element("palette-open")?.addEventListener("click", openPalette);
  element("help-open")?.addEventListener("click", openHelp);
  const behind = [...document.querySelectorAll<HTMLElement>("main, .phone-bar")];
  installPhoneDrawer(button, rail, behind);
}
