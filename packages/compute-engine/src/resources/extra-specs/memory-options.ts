import { badRequest } from '../../errors/refusal.js';
import { isYes } from './is-yes.js';
import { type MadeOf, requested } from './requested-options.js';

const MODELS = ['amd-sev', 'amd-sev-es', 'amd-sev-snp'];
const CHOICES = ['any', 'large', 'small'];
const SIZE = /^[-+]?\d*\.?\d+(([KMGTPEZYRQ]i?|k)?(b|bit|B))?$/;

function conflict(of: MadeOf, name: string, { ofFlavor, ofImage }: ReturnType<typeof requested>): Error {
  return badRequest(
    `Flavor ${of.flavor.name} has hw:${name} extra spec explicitly set to ${ofFlavor}, conflicting with image ${of.image.name ?? null} which has hw_${name} property explicitly set to ${ofImage}`,
  );
}

/** Throws 400 for encryption of memory whose conditions the image does not meet. True where memory has to be locked. */
export function checkMemoryEncryption(of: MadeOf): boolean {
  const { flavor, image } = of;
  const wanted = requested(of, 'mem_encryption');
  if (!isYes(wanted.ofFlavor) && !isYes(wanted.ofImage)) return false;
  if (wanted.ofFlavor !== undefined && wanted.ofImage !== undefined && isYes(wanted.ofFlavor) !== isYes(wanted.ofImage))
    throw conflict(of, 'mem_encryption', wanted);
  const model = requested(of, 'mem_encryption_model');
  if (model.ofFlavor && model.ofImage && model.ofFlavor !== model.ofImage)
    throw conflict(of, 'mem_encryption_model', model);
  const chosen = model.ofImage ?? model.ofFlavor ?? 'amd-sev';
  if (!MODELS.includes(chosen))
    throw badRequest(`Invalid memory encryption model '${chosen}'. Allowed values: ${MODELS.join(', ')}.`);
  const { hw_firmware_type: firmware, hw_machine_type: machine, hw_firmware_stateless: stateless } = image.properties;
  const requesters = [
    ...(isYes(wanted.ofFlavor) ? [`hw:mem_encryption extra spec in ${flavor.name} flavor`] : []),
    ...(isYes(wanted.ofImage) ? [`hw_mem_encryption property of image ${image.id ?? '<no-id>'}`] : []),
  ];
  if (firmware !== 'uefi')
    throw badRequest(
      `Memory encryption is requested by ${requesters.join(' and ')} but the image metadata doesn't have the 'hw_firmware_type' property set to 'uefi'`,
    );
  if (machine !== undefined && !machine.includes('q35'))
    throw badRequest(
      `Machine type '${machine}' is not compatible with image ${image.name ?? null} (${image.id ?? '<no-id>'}): q35 type is required for SEV to work`,
    );
  if (chosen !== 'amd-sev-snp') return true;
  if (!isYes(stateless))
    throw badRequest(
      `The ${chosen} memory encryption model requires stateless firmware but the image metadata doesn't have the 'hw_firmware_stateless' property set to True requires stateless firmware`,
    );
  return false;
}

function checkPageSize(size: string): void {
  if (!CHOICES.includes(size) && !SIZE.test(size)) throw badRequest(`Invalid memory page size '${size}'`);
}

/** The size of pages that a flavor and an image ask for together; 400 for one that does not exist or is not allowed. */
export function pageSizeOf(of: MadeOf): string | undefined {
  const { ofFlavor, ofImage } = requested(of, 'mem_page_size');
  if (!ofFlavor && ofImage) throw badRequest(`Page size ${ofImage} forbidden against '<empty>'`);
  if (!ofFlavor) return undefined;
  checkPageSize(ofFlavor);
  if (!ofImage) return ofFlavor;
  if (ofFlavor !== 'any' && ofFlavor !== 'large')
    throw badRequest(`Page size ${ofImage} forbidden against '${ofFlavor}'`);
  checkPageSize(ofImage);
  return ofImage;
}

/** Throws 400 for memory that is to be locked without a size of its pages. */
export function checkLockedMemory(of: MadeOf): void {
  const { ofFlavor, ofImage } = requested(of, 'locked_memory');
  if (ofFlavor !== undefined && ofImage !== undefined && isYes(ofFlavor) !== isYes(ofImage)) {
    const [image, flavor] = [ofImage, ofFlavor].map((text) => (isYes(text) ? 'True' : 'False'));
    throw badRequest(
      `locked_memory value in image (${image}) and flavor (${flavor}) conflict. A consistent value is expected if both specified.`,
    );
  }
  const pages = requested(of, 'mem_page_size');
  if (isYes(ofFlavor ?? ofImage) && !pages.ofFlavor && !pages.ofImage)
    throw badRequest('locked_memory value in image or flavor is forbidden when mem_page_size is not set.');
}
