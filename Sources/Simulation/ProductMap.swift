import Domain

/// The configuration that goes with a world: dashboard products and the store's, and periods.
func configurationText() -> String {
  var products = "products:\n"
  var periods = "periods:\n"
  for app in App.all {
    for (number, product) in Product.all.enumerated() {
      products += "  \(app.dashboardProducts[number]): [\(app.storeProducts[number])]\n"
      if let period = product.isoPeriod {
        periods += "  \(app.storeProducts[number]): \(period)\n"
      }
    }
  }
  return products + periods
}
