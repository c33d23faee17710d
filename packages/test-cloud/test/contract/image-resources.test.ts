import { SAMPLES } from './image-samples.js';
import { describeResources } from './resource-contract.js';

describeResources('image', SAMPLES);
