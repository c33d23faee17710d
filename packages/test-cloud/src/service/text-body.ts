/** A response body that is not JSON. */
export class TextBody {
  constructor(
    readonly type: string,
    readonly text: string,
  ) {}
}
