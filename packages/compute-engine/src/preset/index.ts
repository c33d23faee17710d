export { InvalidPreset } from './invalid-preset.js';
export { parsePreset, presetJsonSchema } from './parse-preset.js';
