/** Express 4 has a separate name in the tests. Its types are close enough to the Express 5 types. */
declare module 'express4' {
  import express from 'express';
  export default express;
}
