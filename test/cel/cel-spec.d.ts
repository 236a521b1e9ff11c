/** The part of the package that needs no protobuf library; its own types need one. */
declare module '@bufbuild/cel-spec/testdata/conformance.js' {
  export interface Suite {
    readonly name: string;
    readonly suites?: readonly Suite[];
    /** `type` is that of cel-go, as it formats it. */
    readonly tests?: readonly { readonly original: object; readonly type?: string }[];
  }
  export const tests: Suite;
}
