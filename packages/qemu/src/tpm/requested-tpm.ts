import { QemuError } from '../qemu-error.js';
import type { MachineOptions } from '../tuning/machine-options.js';

/** The emulated TPM of a machine. */
export interface Tpm {
  readonly version: '1.2' | '2.0';
  /** The QEMU device: the interface by which the guest sees it. */
  readonly model: 'tpm-tis' | 'tpm-crb';
}

const MODELS: readonly string[] = ['tpm-tis', 'tpm-crb'] satisfies readonly Tpm['model'][];
const VERSIONS: readonly string[] = ['1.2', '2.0'] satisfies readonly Tpm['version'][];

/**
 * Returns the TPM that a flavor or an image requires, or null. A model without a version requires none, as in nova.
 *
 * @throws QemuError `UNSUPPORTED` for unknown values, and for a combination that does not exist
 */
export function requestedTpm(option: MachineOptions): Tpm | null {
  const [version, model = 'tpm-tis'] = [option('tpmVersion'), option('tpmModel')];
  if (version === undefined) return null;
  if (!VERSIONS.includes(version))
    throw new QemuError('UNSUPPORTED', `unknown TPM version ${version} (hw_tpm_version): use 1.2 or 2.0`);
  if (!MODELS.includes(model))
    throw new QemuError('UNSUPPORTED', `unknown TPM model ${model} (hw_tpm_model): use tpm-tis or tpm-crb`);
  if (model === 'tpm-crb' && version !== '2.0')
    throw new QemuError('UNSUPPORTED', 'the TPM model tpm-crb requires hw_tpm_version=2.0: use tpm-tis with 1.2');
  return { version, model } as Tpm;
}
