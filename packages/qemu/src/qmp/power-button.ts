import type { QmpClient } from './qmp-client.js';

/** Control registers of ACPI's power management, at the addresses that firmware of PCs gives them. */
const CONTROL_PORTS = ['0x604', '0xb004'];
/** Set while the guest has ACPI on: power buttons are for it then. */
const SCI_ENABLED = 1n;

/** Whether a word of this form has the bit: `portw[0x0604] = 0x0001`. A port that no device has reads as all ones. */
function isEnabled(text: string): boolean {
  const value = BigInt(/=\s*(0x[0-9a-f]+)/i.exec(text)?.[1] ?? 0);
  return value !== 0xffffn && (value & SCI_ENABLED) !== 0n;
}

/** Returns false where the guest has ACPI off, as firmware and boot loaders have: it does not notice its power button. */
export async function hearsPowerButton(qmp: QmpClient): Promise<boolean> {
  try {
    for (const port of CONTROL_PORTS) {
      const line = `i/h ${port}`;
      if (isEnabled(await qmp.execute<string>('human-monitor-command', { 'command-line': line }))) return true;
    }
    return false;
  } catch {
    // A QEMU that does not answer this is given its time.
    return true;
  }
}
