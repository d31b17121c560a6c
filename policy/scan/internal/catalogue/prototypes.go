package catalogue

import "strings"

// IsExtendable reports whether s is a built-in class whose prototype may get methods of new names. Object is not: all
// objects inherit from its prototype, data included.
func (s *Symbol) IsExtendable() bool { return s.Class && s.Name != "Object" }

// IsNewMethod reports whether no built-in prototype has a method of this name and the language calls none.
func IsNewMethod(name string) bool {
	for _, prefix := range [...]string{"get", "set", "to", "__", "@@"} {
		if strings.HasPrefix(name, prefix) {
			return false // of dates, views, conversions and legacy accessors
		}
	}
	return name != "" && !builtInMethods[name]
}

// builtInMethods are the members of the built-in prototypes, and the names that the language looks up on objects.
var builtInMethods = namesOf(`
add anchor append apply arguments at big bind blink bold buffer byteLength byteOffset call callee caller catch cause
charAt charCodeAt clear codePointAt compile concat configurable constructor copyWithin decode delete deref description
detached difference done dotAll drop encode encodeInto encoding endsWith entries enumerable errors every exec fatal
fill filter finally find findIndex findLast findLastIndex fixed flags flat flatMap fontcolor fontsize forEach global
grow growable has hasIndices hasOwnProperty hash host hostname href ignoreBOM ignoreCase includes indexOf input
intersection isConcatSpreadable isDisjointFrom isPrototypeOf isSubsetOf isSupersetOf isWellFormed italics join keys
lastIndex lastIndexOf length link localeCompare map match matchAll maxByteLength message multiline name next normalize
origin padEnd padStart password pathname pop port propertyIsEnumerable protocol prototype push raw reduce reduceRight
repeat replace replaceAll resizable resize return reverse search searchParams shift size slice small some sort source
splice split stack startsWith sticky strike sub subarray substr substring sup symmetricDifference take test then throw
transfer transferToFixedLength trim trimEnd trimLeft trimRight trimStart unicode unicodeSets union unshift username
value valueOf values with writable`)

func namesOf(list string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(list) {
		out[name] = true
	}
	return out
}
