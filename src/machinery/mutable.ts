/** Makes every field and list writable, at any depth. Mutable lists stay unchanged. */
export type Mutable<T> = T extends unknown[]
  ? T
  : T extends readonly (infer Item)[]
    ? Mutable<Item>[]
    : T extends object
      ? { -readonly [Field in keyof T]: Mutable<T[Field]> }
      : T;
