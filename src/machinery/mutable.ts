/** The same type with every field and list in it writable, at any depth. Lists that are writable already stay as they are. */
export type Mutable<T> = T extends unknown[]
  ? T
  : T extends readonly (infer Item)[]
    ? Mutable<Item>[]
    : T extends object
      ? { -readonly [Field in keyof T]: Mutable<T[Field]> }
      : T;
