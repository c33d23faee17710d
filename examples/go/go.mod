module example.com/testcloud

go 1.19
