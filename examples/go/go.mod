module github.com/apistrata/apistrata/examples/go

go 1.19
