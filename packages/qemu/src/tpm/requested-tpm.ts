import { QemuError } from '../qemu-error.js';
import type { MachineOptions } from '../tuning/machine-options.js';

/** The emulated TPM that a machine requires. */
export interface Tpm {
  readonly version: '1.2' | '2.0';
  /** The QEMU device, which determines the TPM interface that the guest sees. */
  readonly model: 'tpm-tis' | 'tpm-crb';
}

const TPM_MODELS: readonly string[] = ['tpm-tis', 'tpm-crb'] satisfies readonly Tpm['model'][];
const TPM_VERSIONS: readonly string[] = ['1.2', '2.0'] satisfies readonly Tpm['version'][];

/**
 * Returns the TPM that a flavor or image requires; null if none. A model without a version requires no TPM, as in Nova.
 *
 * @throws QemuError `UNSUPPORTED` if the version or the model is unknown, or if they cannot be combined
 */
export function readRequestedTpm(option: MachineOptions): Tpm | null {
  const [version, model = 'tpm-tis'] = [option('tpmVersion'), option('tpmModel')];
  if (version === undefined) return null;
  if (!TPM_VERSIONS.includes(version))
    throw new QemuError(
      'UNSUPPORTED',
      `unknown TPM version ${version} (hw_tpm_version, hw:tpm_version): use 1.2 or 2.0`,
    );
  if (!TPM_MODELS.includes(model))
    throw new QemuError(
      'UNSUPPORTED',
      `unknown TPM model ${model} (hw_tpm_model, hw:tpm_model): use tpm-tis or tpm-crb`,
    );
  if (model === 'tpm-crb' && version !== '2.0')
    throw new QemuError('UNSUPPORTED', 'the TPM model tpm-crb requires hw_tpm_version=2.0: use tpm-tis with 1.2');
  return { version, model } as Tpm;
}
