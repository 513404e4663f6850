export { getLoadablePath, load } from './index.cjs';
