import type { QmpClient } from './qmp-client.js';

/** Control registers of ACPI power management, at the addresses that PC firmware assigns. */
const CONTROL_PORTS = ['0x604', '0xb004'];
/** Set while ACPI is enabled in the guest, which then handles its power button. */
const SCI_ENABLED = 1n;

/**
 * Returns true if a register dump of this form has the bit: `portw[0x0604] = 0x0001`. An unassigned port reads as all
 * ones.
 */
function isEnabled(text: string): boolean {
  const value = BigInt(/=\s*(0x[0-9a-f]+)/i.exec(text)?.[1] ?? 0);
  return value !== 0xffffn && (value & SCI_ENABLED) !== 0n;
}

/**
 * Returns false if ACPI is disabled in the guest, as in firmware and boot loaders: it does not notice its power button.
 */
export async function isAcpiReady(qmp: QmpClient): Promise<boolean> {
  try {
    for (const port of CONTROL_PORTS) {
      const line = `i/h ${port}`;
      if (isEnabled(await qmp.execute<string>('human-monitor-command', { 'command-line': line }))) return true;
    }
    return false;
  } catch {
    // Assumes true if QEMU does not support the query.
    return true;
  }
}
