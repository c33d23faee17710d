import { badRequest } from '../../errors/rejection.js';
import { isTruthyString } from './is-truthy-string.js';
import { type OptionSources, requested } from './requested-options.js';

const MODELS = ['amd-sev', 'amd-sev-es', 'amd-sev-snp'];
const CHOICES = ['any', 'large', 'small'];
const SIZE = /^[-+]?\d*\.?\d+(([KMGTPEZYRQ]i?|k)?(b|bit|B))?$/;

function conflict(
  of: OptionSources,
  name: string,
  { flavorValue: ofFlavor, imageValue: ofImage }: ReturnType<typeof requested>,
): Error {
  return badRequest(
    `Flavor ${of.flavor.name} has hw:${name} extra spec explicitly set to ${ofFlavor}, conflicting with image ${of.image.name ?? null} which has hw_${name} property explicitly set to ${ofImage}`,
  );
}

/**
 * Checks the conditions of memory encryption; throws 400 if the image does not satisfy them. Returns whether memory must be
 * locked.
 */
export function checkMemoryEncryption(of: OptionSources): boolean {
  const { flavor, image } = of;
  const expected = requested(of, 'mem_encryption');
  if (!isTruthyString(expected.flavorValue) && !isTruthyString(expected.imageValue)) return false;
  if (
    expected.flavorValue !== undefined &&
    expected.imageValue !== undefined &&
    isTruthyString(expected.flavorValue) !== isTruthyString(expected.imageValue)
  )
    throw conflict(of, 'mem_encryption', expected);
  const model = requested(of, 'mem_encryption_model');
  if (model.flavorValue && model.imageValue && model.flavorValue !== model.imageValue)
    throw conflict(of, 'mem_encryption_model', model);
  const chosen = model.imageValue ?? model.flavorValue ?? 'amd-sev';
  if (!MODELS.includes(chosen))
    throw badRequest(`Invalid memory encryption model '${chosen}'. Allowed values: ${MODELS.join(', ')}.`);
  const { hw_firmware_type: firmware, hw_machine_type: machine, hw_firmware_stateless: stateless } = image.properties;
  const requesters = [
    ...(isTruthyString(expected.flavorValue) ? [`hw:mem_encryption extra spec in ${flavor.name} flavor`] : []),
    ...(isTruthyString(expected.imageValue) ? [`hw_mem_encryption property of image ${image.id ?? '<no-id>'}`] : []),
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
  if (!isTruthyString(stateless))
    throw badRequest(
      `The ${chosen} memory encryption model requires stateless firmware but the image metadata doesn't have the 'hw_firmware_stateless' property set to True requires stateless firmware`,
    );
  return false;
}

function checkPageSize(size: string): void {
  if (!CHOICES.includes(size) && !SIZE.test(size)) throw badRequest(`Invalid memory page size '${size}'`);
}

/** Returns the page size of a flavor and an image; throws 400 if it is invalid or not permitted. */
export function pageSizeOf(of: OptionSources): string | undefined {
  const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, 'mem_page_size');
  if (!ofFlavor && ofImage) throw badRequest(`Page size ${ofImage} forbidden against '<empty>'`);
  if (!ofFlavor) return undefined;
  checkPageSize(ofFlavor);
  if (!ofImage) return ofFlavor;
  if (ofFlavor !== 'any' && ofFlavor !== 'large')
    throw badRequest(`Page size ${ofImage} forbidden against '${ofFlavor}'`);
  checkPageSize(ofImage);
  return ofImage;
}

/** Throws 400 for locked memory without a page size. */
export function checkLockedMemory(of: OptionSources): void {
  const { flavorValue: ofFlavor, imageValue: ofImage } = requested(of, 'locked_memory');
  if (ofFlavor !== undefined && ofImage !== undefined && isTruthyString(ofFlavor) !== isTruthyString(ofImage)) {
    const [image, flavor] = [ofImage, ofFlavor].map((text) => (isTruthyString(text) ? 'True' : 'False'));
    throw badRequest(
      `locked_memory value in image (${image}) and flavor (${flavor}) conflict. A consistent value is expected if both specified.`,
    );
  }
  const pages = requested(of, 'mem_page_size');
  if (isTruthyString(ofFlavor ?? ofImage) && !pages.flavorValue && !pages.imageValue)
    throw badRequest('locked_memory value in image or flavor is forbidden when mem_page_size is not set.');
}
