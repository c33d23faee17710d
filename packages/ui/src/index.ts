export { type Asset, asset, tokensCss, uiAsset } from './assets.js';
export {
  card,
  chip,
  codeBlock,
  facts,
  methodLabel,
  note,
  type Tab,
  type TabsOptions,
  type Tone,
  tabs,
} from './components.js';
export { highlight } from './highlight.js';
export { Html, html, prose, type TemplateValue } from './html.js';
export { type HeaderLink, type HomeLink, header, type PageParts, page } from './page.js';
export { stylePage } from './style-page.js';
