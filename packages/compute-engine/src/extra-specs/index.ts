export { validateExtraSpec } from './validate-extra-spec.js';
