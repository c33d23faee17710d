/** Express 4 has a separate name in the tests. Its types are close enough to those of Express 5. */
declare module 'express4' {
  import express from 'express';
  export default express;
}
