import { badRequest } from '../../errors/rejection.js';
import { isTruthyString } from './is-truthy-string.js';
import { type OptionSources, type RequestedValues, requestedValuesOf } from './requested-options.js';

const ENCRYPTION_MODELS = ['amd-sev', 'amd-sev-es', 'amd-sev-snp'];
const NAMED_PAGE_SIZES = ['any', 'large', 'small'];
const PAGE_SIZE_PATTERN = /^[-+]?\d*\.?\d+(([KMGTPEZYRQ]i?|k)?(b|bit|B))?$/;

function conflictError(sources: OptionSources, name: string, { flavorValue, imageValue }: RequestedValues): Error {
  return badRequest(
    `Flavor ${sources.flavor.name} has hw:${name} extra spec explicitly set to ${flavorValue}, conflicting with image ${sources.image.name ?? null} which has hw_${name} property explicitly set to ${imageValue}`,
  );
}

/**
 * Checks the requirements for memory encryption. Throws 400 if the flavor and the image conflict, or if the image does
 * not satisfy the requirements. Returns whether the guest's memory must be locked.
 */
export function checkMemoryEncryption(sources: OptionSources): boolean {
  const { flavor, image } = sources;
  const encryption = requestedValuesOf(sources, 'mem_encryption');
  if (!isTruthyString(encryption.flavorValue) && !isTruthyString(encryption.imageValue)) return false;
  if (
    encryption.flavorValue !== undefined &&
    encryption.imageValue !== undefined &&
    isTruthyString(encryption.flavorValue) !== isTruthyString(encryption.imageValue)
  )
    throw conflictError(sources, 'mem_encryption', encryption);
  const model = requestedValuesOf(sources, 'mem_encryption_model');
  if (model.flavorValue && model.imageValue && model.flavorValue !== model.imageValue)
    throw conflictError(sources, 'mem_encryption_model', model);
  const selectedModel = model.imageValue ?? model.flavorValue ?? 'amd-sev';
  if (!ENCRYPTION_MODELS.includes(selectedModel))
    throw badRequest(
      `Invalid memory encryption model '${selectedModel}'. Allowed values: ${ENCRYPTION_MODELS.join(', ')}.`,
    );
  const { hw_firmware_type: firmware, hw_machine_type: machine, hw_firmware_stateless: stateless } = image.properties;
  const requesters = [
    ...(isTruthyString(encryption.flavorValue) ? [`hw:mem_encryption extra spec in ${flavor.name} flavor`] : []),
    ...(isTruthyString(encryption.imageValue) ? [`hw_mem_encryption property of image ${image.id ?? '<no-id>'}`] : []),
  ];
  if (firmware !== 'uefi')
    throw badRequest(
      `Memory encryption is requested by ${requesters.join(' and ')} but the image metadata doesn't have the 'hw_firmware_type' property set to 'uefi'`,
    );
  if (machine !== undefined && !machine.includes('q35'))
    throw badRequest(
      `Machine type '${machine}' is not compatible with image ${image.name ?? null} (${image.id ?? '<no-id>'}): q35 type is required for SEV to work`,
    );
  if (selectedModel !== 'amd-sev-snp') return true;
  if (!isTruthyString(stateless))
    throw badRequest(
      `The ${selectedModel} memory encryption model requires stateless firmware but the image metadata doesn't have the 'hw_firmware_stateless' property set to True requires stateless firmware`,
    );
  return false;
}

function checkPageSize(size: string): void {
  if (!NAMED_PAGE_SIZES.includes(size) && !PAGE_SIZE_PATTERN.test(size))
    throw badRequest(`Invalid memory page size '${size}'`);
}

/**
 * Returns the memory page size that a flavor and an image require. Throws 400 if the size is invalid or not permitted.
 */
export function pageSizeOf(sources: OptionSources): string | undefined {
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'mem_page_size');
  if (!flavorValue && imageValue) throw badRequest(`Page size ${imageValue} forbidden against '<empty>'`);
  if (!flavorValue) return undefined;
  checkPageSize(flavorValue);
  if (!imageValue) return flavorValue;
  if (flavorValue !== 'any' && flavorValue !== 'large')
    throw badRequest(`Page size ${imageValue} forbidden against '${flavorValue}'`);
  checkPageSize(imageValue);
  return imageValue;
}

/** Throws 400 if locked memory is requested without a page size, or if the flavor and the image conflict. */
export function checkLockedMemory(sources: OptionSources): void {
  const { flavorValue, imageValue } = requestedValuesOf(sources, 'locked_memory');
  if (
    flavorValue !== undefined &&
    imageValue !== undefined &&
    isTruthyString(flavorValue) !== isTruthyString(imageValue)
  ) {
    const [image, flavor] = [imageValue, flavorValue].map((text) => (isTruthyString(text) ? 'True' : 'False'));
    throw badRequest(
      `locked_memory value in image (${image}) and flavor (${flavor}) conflict. A consistent value is expected if both specified.`,
    );
  }
  const pageSize = requestedValuesOf(sources, 'mem_page_size');
  if (isTruthyString(flavorValue ?? imageValue) && !pageSize.flavorValue && !pageSize.imageValue)
    throw badRequest('locked_memory value in image or flavor is forbidden when mem_page_size is not set.');
}
