export { type OperatorsPageOptions, operatorsPage, type SignIn } from './operators-page.js';
export { pageFile, pagePolicy } from './page-files.js';
