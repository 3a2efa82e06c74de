// A pi extension that adds one provider: the endpoint that a launch of Barry was given.
//
// The provider comes as JSON in BARRY_PI_ROUTE. It names the variable that holds the key, never
// the key: pi runs a key that begins with "!" as a command, but takes a variable's value as it is.
export default function (pi) {
  const { name, ...provider } = JSON.parse(process.env.BARRY_PI_ROUTE)
  pi.registerProvider(name, provider)
}
