/** An ordinary provider, injected into the group; tests can override it. */
export class PriceList {
  priceOf(size: string): number | undefined {
    return { small: 10, medium: 15, large: 40 }[size];
  }
}
