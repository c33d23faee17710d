import type { QmpClient } from './qmp-client.js';

/** The I/O ports that PC firmware assigns to the ACPI power management control register. */
const CONTROL_PORTS = ['0x604', '0xb004'];
/** The register bit that is set while the guest has enabled ACPI and therefore handles its power button. */
const SCI_ENABLED_BIT = 1n;

/**
 * Returns true if a register dump, such as `portw[0x0604] = 0x0001`, has the ACPI bit. Unassigned ports read as 0xffff.
 */
function hasAcpiBit(registerDump: string): boolean {
  const value = BigInt(/=\s*(0x[0-9a-f]+)/i.exec(registerDump)?.[1] ?? 0);
  return value !== 0xffffn && (value & SCI_ENABLED_BIT) !== 0n;
}

/**
 * Returns false if the guest has not enabled ACPI, for example in firmware or a boot loader. Such a guest ignores its
 * power button.
 */
export async function isAcpiReady(qmp: QmpClient): Promise<boolean> {
  try {
    for (const port of CONTROL_PORTS) {
      const line = `i/h ${port}`;
      if (hasAcpiBit(await qmp.execute<string>('human-monitor-command', { 'command-line': line }))) return true;
    }
    return false;
  } catch {
    // If QEMU does not support the query, assume that the guest handles its power button.
    return true;
  }
}
