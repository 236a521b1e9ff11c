import { Module, type DynamicModule } from '@nestjs/common';
import { PriceList } from './price-list.js';
import { ShopGroup, type ShopContext } from './shop.group.js';

/** The API group shop.example.com/v1 as one module: `startKeelson({ modules: (context) => [WidgetsModule.for(context)] })`. */
@Module({})
export class WidgetsModule {
  static for(context: ShopContext): DynamicModule {
    return {
      module: WidgetsModule,
      providers: [
        PriceList,
        { provide: ShopGroup, inject: [PriceList], useFactory: (prices: PriceList) => new ShopGroup(context, prices) },
      ],
      exports: [ShopGroup],
    };
  }
}
