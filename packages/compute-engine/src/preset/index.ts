export { InvalidPreset } from './invalid-preset.js';
export { parsePreset, presetJsonSchema } from './parse-preset.js';
export type {
  AggregateSeed,
  FlavorSeed,
  HostSeed,
  ImageSeed,
  NetworkSeed,
  SecurityGroupSeed,
  ShareSeed,
  VolumeSeed,
  VolumeTypeSeed,
} from './preset.js';
