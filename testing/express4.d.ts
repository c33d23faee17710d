/** Express 4 stands in the tests under a name of its own; its types are close enough to those of Express 5. */
declare module 'express4' {
  import express from 'express';
  export default express;
}
