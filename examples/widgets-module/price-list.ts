/** An ordinary provider of the module: the group is given it, and tests may put another in its place. */
export class PriceList {
  priceOf(size: string): number | undefined {
    return { small: 10, medium: 15, large: 40 }[size];
  }
}
